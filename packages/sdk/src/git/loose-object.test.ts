import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import type { GitFiles } from '../contracts/git.ts';
import { readLooseObject } from './loose-object.ts';

/** Of "blob 4\0one\n". */
const HASH = '5626abf0f72e58d7a153368ba57db4c673c0e171';
const NAME = 'objects/56/26abf0f72e58d7a153368ba57db4c673c0e171';

function holding(bytes: Buffer | Error | undefined): GitFiles {
  return {
    async read(name: string) {
      if (bytes instanceof Error) throw bytes;
      return name === NAME ? bytes : undefined;
    },
  } as unknown as GitFiles;
}

test('an object in a file of its own is read with its type', async () => {
  const found = await readLooseObject(holding(deflateSync('blob 4\0one\n')), HASH, 100);
  assert.deepEqual([found?.type, found?.bytes.toString()], ['blob', 'one\n']);
});

test('a file under the name of another content is not that object [S0-51]', async () => {
  assert.equal(await readLooseObject(holding(deflateSync('blob 4\0two\n')), HASH, 100), undefined);
});

test('what is not there, too large, no object or not readable is left to git', async () => {
  const cases = [undefined, deflateSync('one\n'), Buffer.from('no zlib'), new Error('EACCES')];
  for (const bytes of cases) assert.equal(await readLooseObject(holding(bytes), HASH, 100), undefined);
  assert.equal(await readLooseObject(holding(deflateSync(`blob 900\0${'x'.repeat(900)}`)), HASH, 100), undefined);
});
