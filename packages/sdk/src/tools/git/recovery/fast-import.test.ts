import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createRepository } from '../../../../test/git-repository.ts';
import { type BlobMode, importStream } from './fast-import.ts';

const byte = fc.integer({ min: 1, max: 255 }).filter((code) => code !== 0x2f);
const component = fc
  .array(fc.oneof(byte, fc.constantFrom(0x0a, 0x22, 0x5c, 0x20, 0x09, 0x27, 0x2d, 0x3a)), {
    minLength: 1,
    maxLength: 12,
  })
  .map((codes) => String.fromCharCode(...codes))
  .filter((name) => !['.', '..'].includes(name) && !/^\.git$|^git~1$|\u200c/i.test(name));
const entry = fc.record({
  name: fc.array(component, { minLength: 1, maxLength: 3 }),
  mode: fc.constantFrom<BlobMode>('100644', '100755', '120000'),
  bytes: fc.uint8Array({ maxLength: 64 }),
});

test('git reads back every name, mode and byte it was given, and half a stream makes nothing [S0-51]', async () => {
  const repository = createRepository();
  let made = 0;
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 8 }), fc.string(), (given, message) => {
      // Each below a folder of its own: a name cannot be a file and a folder at once.
      const entries = given.map(({ name, mode, bytes }, at) => ({
        path: `${at}/${name.join('/')}`,
        mode,
        content: { bytes },
      }));
      const ref = `refs/tool-runtime/recovery/test-${made++}`;
      const stream = importStream({ ref, time: 1_700_000_000, message, parents: [], entries });
      repository.gitBytes(['fast-import', '--quiet', '--done'], stream);
      const listed = repository
        .gitBytes(['ls-tree', '-r', '-z', ref])
        .toString('latin1')
        .split('\0')
        .filter(Boolean)
        .map((record) => /^(\d+) blob ([0-9a-f]+)\t(.*)$/s.exec(record)?.slice(1) ?? []);
      const found = listed.map(([mode, hash = '', path = '']) => ({
        path,
        mode,
        bytes: repository.gitBytes(['cat-file', 'blob', hash]).toString('hex'),
      }));
      const expected = entries.map(({ path, mode, content }) => ({
        path,
        mode,
        bytes: Buffer.from(content.bytes).toString('hex'),
      }));
      assert.deepEqual(found.sort(byPath), expected.sort(byPath));
      if (entries.length > 0) {
        const cut = stream.subarray(0, stream.length - 'done\n'.length);
        const renamed = Buffer.from(cut.toString('latin1').replace(ref, `${ref}-cut`), 'latin1');
        assert.throws(() => repository.gitBytes(['fast-import', '--quiet', '--done'], renamed));
        assert.notEqual(repository.gitCode('rev-parse', '--verify', '--quiet', `${ref}-cut`), 0);
      }
    }),
    { numRuns: 40 },
  );
  repository.dispose();
});

function byPath(one: { readonly path: string }, other: { readonly path: string }): number {
  return one.path < other.path ? -1 : 1;
}
