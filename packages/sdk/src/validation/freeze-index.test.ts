import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freezeIndex } from './freeze-index.ts';

/** A git folder with nothing but what is written to it. */
function createFolder() {
  const held = new Map<string, Uint8Array>();
  const files = {
    write: async (name: string, bytes: Uint8Array) => {
      await new Promise(setImmediate);
      held.set(name, bytes);
    },
    remove: async (name: string) => void held.delete(name),
  };
  return { held, files };
}

test('a frozen index becomes a file when git asks for it, once, and leaves none behind', async () => {
  const { held, files } = createFolder();
  const index = freezeIndex(files, Buffer.from('DIRC'));
  assert.equal(held.size, 0);
  const [name, again] = await Promise.all([index.name(), index.name()]);
  assert.equal(name, again);
  assert.deepEqual([...held], [[name, Buffer.from('DIRC')]]);
  await index.discard();
  assert.equal(held.size, 0);
});

test('what is being written when the call ends is removed as well, and nothing is written afterwards', async () => {
  const { held, files } = createFolder();
  const index = freezeIndex(files, Buffer.from('DIRC'));
  const asked = index.name();
  await index.discard();
  await asked;
  assert.equal(held.size, 0);
  await assert.rejects(index.name());
  assert.equal(held.size, 0);
});

test('where nothing was ever staged, git is given the name of a file that is not there', async () => {
  const { held, files } = createFolder();
  const index = freezeIndex(files, undefined);
  assert.match(await index.name(), /^tool-runtime-[0-9a-f]{16}\.index$/);
  assert.equal(held.size, 0);
});
