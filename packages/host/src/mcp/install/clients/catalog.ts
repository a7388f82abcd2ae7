/** Every MCP client we write the configuration of, one line each. */
export { claudeCode } from './claude-code.ts';
export { codex } from './codex.ts';
export { cursor } from './cursor.ts';
export { geminiCli } from './gemini-cli.ts';
export { opencode } from './opencode.ts';
export { vsCode } from './vs-code.ts';
export { zed } from './zed.ts';
