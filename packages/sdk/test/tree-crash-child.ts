/** Moves, copies, removes and writes without end, until it is killed. Started by tree-crash.deep.test.ts. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openRoot, type RootBackend } from '../src/platform/descriptors/root.ts';
import { createWorkspace } from '../src/platform/files/workspace.ts';
import { NOTES } from './tree-crash-scene.ts';

const [directory = '', elsewhere = '', backend = ''] = process.argv.slice(2);
const workspace = createWorkspace(openRoot(directory, { backend: backend as RootBackend }), {
  extraRoots: [{ name: 'other', path: elsewhere, access: 'write' }],
});
const COPY = { overwrite: false, preserveMode: true };
const there = (name: string): boolean => existsSync(join(directory, name));

process.stdout.write('ready');
for (let round = 0; ; round++) {
  const version = `v${round % 2}`;
  await (there('a') ? workspace.move('a', 'b', COPY) : workspace.move('b', 'a', COPY));
  await (there('f') ? workspace.move('f', 'g', COPY) : workspace.move('g', 'f', COPY));
  await (there('far') ? workspace.move('far', '@other/far', COPY) : workspace.move('@other/far', 'far', COPY));
  await workspace.copy(version, 'copy', COPY);
  await workspace.remove('copy', { recursive: true });
  await workspace.copy(version, 'copied', { ...COPY, overwrite: true });
  await workspace.copy(version, 'new', COPY);
  await workspace.move('new', 'over', { overwrite: true });
  await workspace.writeFile('note', NOTES[round % 2] ?? Buffer.alloc(0));
}
