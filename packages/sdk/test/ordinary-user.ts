/**
 * Runs in a process of its own as a user without privileges, in a folder that user owns. Started by
 * ordinary-user.test.ts; prints one line of JSON: for each case what it answered and what it left behind.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isToolError } from '@tool-runtime/protocol';
import { loadNativeCalls } from '../src/platform/descriptors/native-calls.ts';
import { openRoot } from '../src/platform/descriptors/root.ts';
import { createWorkspace } from '../src/platform/files/workspace.ts';

const [base = '', user = ''] = process.argv.slice(2);
const NOBODY = Number(user);
// Loaded by root: that user need not reach the folder of this project.
const native = loadNativeCalls();
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}

type Workspace = ReturnType<typeof createWorkspace>;

const COPY = { overwrite: false, preserveMode: true };

const CASES: Record<string, (workspace: Workspace) => unknown> = {
  'remove read-only folders of our own': (workspace) => workspace.remove('read-only', { recursive: true }),
  'copy read-only folders': (workspace) => workspace.copy('read-only', 'copy', COPY),
  'remove what cannot be looked into': (workspace) => workspace.remove('unreadable', { recursive: true }),
  'copy what cannot be looked into': (workspace) => workspace.copy('unreadable', 'copy', COPY),
  'copy a file that cannot be read': (workspace) => workspace.copy('secret', 'copy', COPY),
  'move a file that cannot be read': (workspace) => workspace.move('secret', 'moved', COPY),
  'remove a file that cannot be read': (workspace) => workspace.remove('secret', { recursive: false }),
  'move into a folder that cannot be changed': (workspace) => workspace.move('file', 'read-only/file', COPY),
  'copy into a folder that cannot be changed': (workspace) => workspace.copy('file', 'read-only/file', COPY),
  'move out of a folder that cannot be changed': (workspace) => workspace.move('read-only/in', 'moved', COPY),
};

function plant(directory: string): void {
  mkdirSync(join(directory, 'read-only/in'), { recursive: true });
  mkdirSync(join(directory, 'unreadable'));
  for (const name of ['read-only/in/file', 'unreadable/file', 'secret', 'file'])
    writeFileSync(join(directory, name), 'x');
  chmodSync(join(directory, 'read-only/in'), 0o555);
  chmodSync(join(directory, 'read-only'), 0o555);
  chmodSync(join(directory, 'unreadable'), 0);
  chmodSync(join(directory, 'secret'), 0);
}

async function answerOf(action: () => unknown): Promise<string> {
  try {
    await action();
    return 'ok';
  } catch (thrown) {
    return isToolError(thrown) ? thrown.message : String(thrown);
  }
}

const report: Record<string, string[]> = {};
for (const backend of ['openat2', 'walk'] as const) {
  for (const [name, act] of Object.entries(CASES)) {
    const directory = join(base, `${backend}-${name}`);
    mkdirSync(directory);
    plant(directory);
    const root = openRoot(directory, { backend, native });
    const answer = await answerOf(() => act(createWorkspace(root)));
    root.close();
    report[`${backend} ${name}`] = [answer, ...readdirSync(directory).sort()];
    const closed = join(directory, 'read-only');
    if (existsSync(closed)) chmodSync(closed, 0o755);
  }
}
process.stdout.write(JSON.stringify({ uid: process.getuid?.(), report }));
