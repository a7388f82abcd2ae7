/** The agents that are tried. */
export { claudeCode } from './claude-code.ts';
export { codex } from './codex.ts';
export { geminiCli } from './gemini-cli.ts';
export { opencode } from './opencode.ts';
