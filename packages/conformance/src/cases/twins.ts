/** Plain uses that must work: the twins of many cases. */
import type { Scene } from '../scene/scene.ts';
import { expect, shown } from './case.ts';

export async function readsInside(scene: Scene): Promise<void> {
  scene.put('inside.txt', 'plain text inside\n');
  const { ok, text } = await scene.call('read', { path: 'inside.txt' });
  expect(ok && text.includes('plain text inside'), `A plain file in the workspace is not read: ${shown(text)}`);
}

export async function writesInside(scene: Scene): Promise<void> {
  const { ok, text } = await scene.call('write', { path: 'written.txt', content: 'plain text\n' });
  expect(ok, `A plain file in the workspace cannot be written: ${shown(text)}`);
  expect(scene.bytes('written.txt')?.toString() === 'plain text\n', 'A write reports success and the file differs');
}

export async function editsInside(scene: Scene): Promise<void> {
  scene.put('edited.txt', 'one\ntwo\nthree\n');
  const { ok, text } = await scene.call('edit', { path: 'edited.txt', old: 'two', new: 'second' });
  expect(ok, `A plain edit of a unique text fails: ${shown(text)}`);
  expect(scene.bytes('edited.txt')?.toString() === 'one\nsecond\nthree\n', 'A plain edit leaves the wrong text');
}

export async function listsInside(scene: Scene): Promise<void> {
  scene.put('listed.txt', 'listed\n');
  const { ok, whole } = await scene.call('list', { path: '.' });
  expect(ok && whole.includes('listed.txt'), 'The list of the workspace lacks a file that is there');
}

export async function searchesInside(scene: Scene): Promise<void> {
  scene.put('searched.txt', 'first\nneedle here\nlast\n');
  const { ok, whole } = await scene.call('search', { path: '.', pattern: 'needle' });
  expect(ok && whole.includes('searched.txt'), 'A search does not find a text that is in the workspace');
}

export async function runsEcho(scene: Scene): Promise<void> {
  const { ok, text } = await scene.call('run', { command: 'echo plain-output' });
  expect(ok && text.includes('plain-output'), `A plain echo does not run: ${shown(text)}`);
}
