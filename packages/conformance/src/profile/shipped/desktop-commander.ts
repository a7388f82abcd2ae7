/**
 * @wonderwhy-er/desktop-commander, limited to the workspace by its configuration. A refused
 * edit is an answer without an error, told by its message. Its commands are jobs: an answer may come
 * while one still runs. Its search answers with a session to ask again, which the suite does not follow.
 */
import type { ProfileSource } from '../profile.ts';

export const desktopCommander: ProfileSource = {
  name: 'desktop-commander',
  summary: '@wonderwhy-er/desktop-commander',
  start: { mcp: '{program} --no-onboarding' },
  variables: { program: 'npx -y @wonderwhy-er/desktop-commander' },
  env: { HOME: '{setup}' },
  files: {
    '.claude-server-commander/config.json': JSON.stringify({
      allowedDirectories: ['{workspace}'],
      blockedCommands: [],
      defaultShell: '/bin/sh',
      telemetryEnabled: false,
    }),
  },
  paths: 'absolute',
  refusal: '^(?:Search content not found|Expected \\d+ occurrences)',
  tools: {
    read: { tool: 'read_file', args: { path: '{path}' } },
    write: { tool: 'write_file', args: { path: '{path}', content: '{content}', mode: 'rewrite' } },
    edit: { tool: 'edit_block', args: { file_path: '{path}', old_string: '{old}', new_string: '{new}' } },
    list: { tool: 'list_directory', args: { path: '{path}' } },
    run: {
      tool: 'start_process',
      args: { command: '{command}', timeout_ms: 5000 },
      programs: ['cat', 'echo', 'env', 'sh', 'sleep'],
      keeps_running: true,
    },
  },
};
