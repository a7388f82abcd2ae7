import assert from 'node:assert/strict';
import { renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { namesOf, scratchIndex } from '../../test/scratch-index.ts';

const ask = { fresh: true } as const;

describe('changes by other programs', () => {
  test('are noticed: edits, new files, removals [S0-53]', async (t) => {
    const { index, put, directory } = scratchIndex(t, { 'a.ts': 'const a = 1;\n', 'b.ts': 'const b = 1;\n' });
    await index.generate();
    put('a.ts', 'const changed = 1;\n');
    put('c.ts', 'const added = 1;\n');
    rmSync(path.join(directory, 'b.ts'));
    assert.deepEqual(namesOf((await index.query({}, ask)).nodes), ['changed', 'added']);
    assert.deepEqual(index.files(), ['a.ts', 'c.ts']);
  });

  test('are noticed by the first query of a later process [S0-53]', async (t) => {
    const { index, put, open } = scratchIndex(t, { 'a.ts': 'const a = 1;\n', 'b.ts': 'const b = 1;\n' });
    await index.generate();
    await index.close();
    put('a.ts', 'const changed = 1;\n');
    put('c.ts', 'const added = 1;\n');
    assert.deepEqual(namesOf((await open().query({})).nodes), ['changed', 'b', 'added']);
  });

  test('are noticed although size and time stay the same [S0-53]', async (t) => {
    const { index, put, directory } = scratchIndex(t, { 'a.ts': 'const a = 1;\n' });
    const file = path.join(directory, 'a.ts');
    const old = new Date(Date.now() - 60_000);
    utimesSync(file, old, old);
    await index.generate();
    const { mtime } = statSync(file);
    put('other.ts', 'const b = 1;\n');
    utimesSync(path.join(directory, 'other.ts'), mtime, mtime);
    renameSync(path.join(directory, 'other.ts'), file);
    assert.deepEqual(namesOf((await index.query({}, ask)).nodes), ['b']);
  });

  test('are noticed when a file was written twice in one tick of the clock [S0-53]', async (t) => {
    const { index, put } = scratchIndex(t, { 'a.ts': 'const a0 = 1;\n' });
    await index.generate();
    for (let round = 1; round < 10; round++) {
      put('a.ts', `const a${round} = 1;\n`);
      assert.deepEqual(namesOf((await index.query({}, ask)).nodes), [`a${round}`]);
    }
  });

  test('are looked for in the file an id belongs to [S0-53]', async (t) => {
    const { index, put } = scratchIndex(t, { 'a.ts': 'function keep() {}\nfunction gone() {}\n' });
    await index.generate();
    const [keep, gone] = (await index.query({})).nodes;
    put('a.ts', '// moved down\nfunction keep() {}\n');
    assert.equal((await index.nodeById(keep?.id ?? ''))?.node.line, 2);
    assert.equal(await index.nodeById(gone?.id ?? ''), undefined);
  });

  test('are only searched for where something was generated', async (t) => {
    const { index, put } = scratchIndex(t, { 'src/a.ts': 'const a = 1;\n' });
    assert.equal(index.stats().generated, false);
    assert.deepEqual((await index.query({}, ask)).nodes, []);
    await index.generate({ paths: ['src/**'] });
    put('src/b.ts', 'const b = 1;\n');
    put('lib/c.ts', 'const c = 1;\n');
    assert.deepEqual(namesOf((await index.query({}, ask)).nodes), ['a', 'b']);
    assert.equal(index.stats().generated, true);
  });

  test('are brought in once for queries that ask at the same time', async (t) => {
    const { index, put } = scratchIndex(t, { 'a.ts': 'const a = 1;\n' });
    await index.generate();
    put('a.ts', 'const b = 1;\n');
    const answers = await Promise.all(Array.from({ length: 5 }, () => index.query({}, ask)));
    for (const { nodes } of answers) assert.deepEqual(namesOf(nodes), ['b']);
  });
});
