/** `tool-runtime mcp`, with commands run by a shell in the sandbox. */
import type { ProfileSource } from '../profile.ts';

/** Commands are not limited to a list, so that the cases meet the sandbox and not only the list. */
export const REGISTRY = `version: 1
shell: { mode: sandboxed }
`;

const FOLDERS = '--workspace {workspace} --state {state}';

export const JOURNAL: NonNullable<ProfileSource['journal']> = {
  show: `{program} audit export ${FOLDERS}`,
  verify: `{program} audit verify ${FOLDERS}`,
  files: [
    '{state}/**/*.sqlite',
    '{state}/**/*.sqlite-wal',
    '{state}/**/*.db',
    '{state}/**/*.db-wal',
    '{state}/**/*.jsonl',
  ],
};

export const RUN_PROGRAMS: NonNullable<ProfileSource['tools']['run']>['programs'] = [
  'cat',
  'echo',
  'env',
  'sh',
  'sleep',
];

export const toolRuntimeMcp: ProfileSource = {
  name: 'tool-runtime-mcp',
  summary: 'tool-runtime mcp',
  start: { mcp: `{program} mcp ${FOLDERS} --registry {setup}/registry.yaml` },
  variables: { program: 'npx -y @tool-runtime/host' },
  files: { 'registry.yaml': REGISTRY },
  tools: {
    read: { tool: 'file_read', args: { path: '{path}' } },
    write: { tool: 'file_write', args: { path: '{path}', content: '{content}' } },
    edit: { tool: 'file_edit', args: { path: '{path}', old: '{old}', new: '{new}' } },
    list: { tool: 'fs_list', args: { path: '{path}' } },
    search: { tool: 'grep', args: { pattern: '{pattern}' } },
    run: { tool: 'shell_exec', args: { cmd: '{command}' }, programs: RUN_PROGRAMS },
  },
  journal: JOURNAL,
};
