/** The commands by what they are for, with examples that a test parses. A command that is in no group is an older name. */
export const HELP: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'Use tools:': {
    call: [
      'call file_read path=README.md',
      'call grep --pattern TODO --count',
      `call file_write '{"path":"a.txt","content":"hi"}'`,
    ],
    tools: ['tools', 'tools file_read', 'tools --cost'],
    ast: ['ast outline src/index.ts', 'ast rename parse readConfig'],
    validate: ['validate --staged', 'validate --since main src'],
  },
  'Set the policy:': {
    demo: ['demo', 'demo try'],
    init: ['init', 'init --dry-run'],
    trust: ['trust'],
    revoke: ['revoke'],
    doctor: ['doctor', 'doctor --json'],
    explain: ['explain E_POLICY', 'explain shell_exec', 'explain limits.max_answer_tokens'],
  },
  'Look back:': {
    changes: ['changes', 'changes show 5f0c', 'changes undo 5f0c src/a.ts'],
    audit: ['audit list', 'audit list --records --kind decision', 'audit verify'],
  },
  'Run a host:': {
    serve: ['serve', 'serve --http 127.0.0.1:7500'],
    status: ['status'],
    stop: ['stop'],
    approvals: ['approvals list'],
    token: ['token list'],
  },
  'Connect:': {
    mcp: ['mcp', 'mcp install claude-code', 'mcp --profile structured'],
    stdio: ['stdio'],
    hook: ['hook install'],
    external: ['external run my-tool', 'external list', 'external check ./my-tool', 'external lock --check'],
    completion: ['completion bash'],
  },
};

export interface HelpEntry {
  readonly group: string;
  readonly examples: readonly string[];
}

export function helpOf(command: string): HelpEntry | undefined {
  for (const [group, commands] of Object.entries(HELP)) {
    const examples = Object.hasOwn(commands, command) ? commands[command] : undefined;
    if (examples !== undefined) return { group, examples };
  }
  return undefined;
}
