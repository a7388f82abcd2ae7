/**
 * Calls of a transaction that try to get out of its tree, or more committed than files, links and folders; as the user
 * that started it.
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRuntime } from '../src/runtime.ts';

const [base = '', ground = ''] = process.argv.slice(2);
const [workspace, outside, extra] = ['workspace', 'outside', 'extra'].map((name) => join(base, name));
for (const folder of [workspace, outside, extra]) mkdirSync(folder ?? '');
const at = (name: string): string => join(workspace ?? '', name);
for (const folder of ['sub', 'conf', '.git']) mkdirSync(at(folder));
for (const name of ['own', 'sub/file', 'conf/policy', 'conf/secret', 'conf/plain', '.git/config'])
  writeFileSync(at(name), `${name}\n`);
writeFileSync(join(outside ?? '', 'file'), 'outside\n');
writeFileSync(join(extra ?? '', 'file'), 'extra\n');
symlinkSync('../outside', at('up'));
if (ground === 'copy') {
  // No command can make them in the transaction, so they are there before it.
  rmSync(at('sub'), { recursive: true });
  mkdirSync(at('room'));
  symlinkSync(outside ?? '', at('sub'));
  symlinkSync('own', at('near'));
  symlinkSync('conf/secret', at('alias'));
  symlinkSync('../../outside', at('room/out'));
}

const runtime = await createRuntime({
  ...{ workspace: workspace ?? '', state: join(base, 'state') },
  registry: {
    file: 'registry.yaml',
    text: `version: 1\n${ground === 'copy' ? 'isolation: none\nshell: { mode: strict }\nshell_allow: ["^ls$"]' : 'shell: { mode: sandboxed }'}\n`,
  },
  extraRoots: [{ name: 'more', path: extra ?? '', access: 'write' }],
  governing: [
    { path: at('conf/policy'), access: 'read' },
    { path: at('conf/secret'), access: 'none' },
  ],
});
const session = await runtime.openSession({});
const answers: Record<string, string> = {};

async function call(name: string, tool: string, args: Record<string, unknown>): Promise<void> {
  const { ok, errors } = await session.call(tool as string, args);
  answers[name] = ok ? 'ok' : String(errors[0]?.details?.['reason'] ?? errors[0]?.code);
}

const write = (name: string, path: string) => call(name, 'file_write', { path, content: 'evil\n', create_dirs: true });
const run = (name: string, cmd: string) => call(name, 'shell_exec', ground === 'copy' ? { argv: ['ls'] } : { cmd });

await call('begin', 'tx_begin', {});
await write('write through a link that leads out', 'up/file');
await run(
  'replace a folder by a link',
  `rm -rf sub; ln -s ${outside} sub; ln -s own near; ln -s conf/secret alias; mkdir room; ln -s ../../outside room/out`,
);
await write('write through the new link', 'sub/file');
await write('write through a link in a new folder', 'room/out/file');
await call('read through the new link', 'file_read', { path: 'sub/file' });
await call('read a link that stays inside', 'file_read', { path: 'near' });
await write('write what governs', 'conf/policy');
await write('write what git reads', '.git/config');
await call('move the folder of what governs', 'fs_move', { src: 'conf', dst: 'other' });
await call('remove the folder of what governs', 'fs_delete', { path: 'conf', recursive: true });
await call('read a secret', 'file_read', { path: 'conf/secret' });
await call('read a secret through a link', 'file_read', { path: 'alias' });
await call('copy a secret', 'fs_copy', { src: 'conf/secret', dst: 'copied' });
const searched = await session.call('grep', { pattern: '^(conf/secret|conf/plain)$' });
await write('write beside what governs', 'conf/plain');
await write('write to a folder outside of the workspace', '@more/file');
await call('read a folder outside of the workspace', 'file_read', { path: '@more/file' });
await run(
  'set bits, pipes and devices',
  'cp /bin/true elevated; chmod 6755 elevated; mkfifo pipe; mknod hole c 0 0; mkdir -p .git/hooks; echo evil > .git/hooks/x; echo evil > conf/policy; true',
);
await run(
  'write through /proc',
  `for p in /proc/self/root /proc/1/root /proc/[0-9]*/fd/*; do echo evil > $p${outside}/file; done; true`,
);
await call('commit', 'tx_commit', {});
await runtime.close();

const names = readdirSync(workspace ?? '').sort();
process.stdout.write(
  JSON.stringify({
    uid: process.getuid?.(),
    answers,
    names,
    kept: ['conf/policy', 'conf/secret', 'conf/plain', '.git/config'].map((name) => readFileSync(at(name), 'utf8')),
    hooks: readdirSync(at('.git')),
    isLink: lstatSync(at('sub')).isSymbolicLink(),
    mode: lstatSync(at('elevated'), { throwIfNoEntry: false })?.mode.toString(8).slice(-4) ?? 'none',
    outside: readdirSync(outside ?? '').map((name) => readFileSync(join(outside ?? '', name), 'utf8')),
    extra: readFileSync(join(extra ?? '', 'file'), 'utf8'),
    found: ['conf/secret', 'conf/plain'].filter((name) => JSON.stringify(searched.data).includes(`"${name}"`)),
  }),
);
