import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { everything, live, namesOf, scratchIndex } from '../../test/scratch-index.ts';
import { PendingFacts, type PendingFile } from './pending-facts.ts';

describe('questions after a write', () => {
  test('see its rows at once, whatever is asked [S0-53]', async (t) => {
    const { index, write } = scratchIndex(t, { 'a.ts': 'const a = 1;\n', 'b.ts': 'export const b = 1;\n' });
    await index.generate();
    const rewrite = (name: string) =>
      write('a.ts', `import { b } from './b.ts';\nfunction ${name}() { ${name}Call(); }\n`);
    await rewrite('one');
    assert.deepEqual(namesOf((await index.query({ file_glob: 'a.ts' })).nodes), ['one']);
    await rewrite('two');
    assert.equal((await index.references('twoCall')).length, 1);
    await rewrite('three');
    assert.deepEqual(
      (await index.outline('a.ts')).map(({ node }) => node.name),
      ['three'],
    );
    await rewrite('four');
    assert.deepEqual(await index.references('threeCall'), []);
    await write('a.ts', "import { b } from './b.ts';\n");
    assert.deepEqual(
      (await index.importersOf('b.ts')).map(({ file }) => file),
      ['a.ts'],
    );
    await write('a.ts', 'const x = 1;\nconst y = 2;\n');
    assert.deepEqual([index.fileRow('a.ts')?.nodes, index.stats().nodes], [2, 3]);
    assert.deepEqual(await index.importsOf('a.ts'), []);
  });

  test('find a declaration by its id, with the digest of the content it is in [S0-53]', async (t) => {
    const { index, write } = scratchIndex(t, { 'a.ts': 'function stays() {}\n' });
    await index.generate();
    const id = (await index.nodesOfFile('a.ts'))[0]?.id ?? '';
    await write('a.ts', '// moved\nfunction stays() {}\nfunction fresh() {}\n');
    const found = await index.nodeById(id);
    assert.deepEqual([found?.node.line, found?.sha256], [2, index.fileRow('a.ts')?.sha256]);
    await write('a.ts', 'function fresh() {}\n');
    assert.equal(await index.nodeById(id), undefined);
  });

  test('see the last of many writes, to one file and to more files than trees are kept of [S0-53]', async (t) => {
    const { index, write } = scratchIndex(t);
    await index.generate();
    for (let round = 0; round < 20; round++) await write('one.ts', `const round${round} = 1;\n`);
    for (let at = 0; at < 40; at++) await write(`many/f${at}.ts`, `const v${at} = 1;\n`);
    const { nodes } = await index.query({});
    assert.deepEqual(namesOf(nodes).sort(), ['round19', ...Array.from({ length: 40 }, (_, at) => `v${at}`)].sort());
  });

  test('keep the ids of twins as of the rows that were shown last [S0-53]', async (t) => {
    const { index, write } = scratchIndex(t);
    const twin = (call: string) => `test("same", () => { ${call}(); });\n`;
    await write('a.ts', twin('a') + twin('b'));
    const kept = (await index.nodesOfFile('a.ts'))[1]?.id;
    await write('a.ts', twin('x') + twin('a') + twin('b'));
    await write('a.ts', twin('b'));
    assert.deepEqual(
      (await index.nodesOfFile('a.ts')).map(({ id }) => id),
      [kept],
    );
  });
});

describe('a file whose facts wait', () => {
  test('has its syntax judged, before and after its facts are read [S0-63]', async (t) => {
    const { index, write } = scratchIndex(t, { 'a.ts': 'const a = 1;\n' });
    await index.generate();
    await write('a.ts', 'const a = 1;\nfunction (\n');
    const early = await index.parseProblems('a.ts', live());
    const details = await index.problemsOf('a.ts');
    assert.deepEqual([early[0]?.line, index.problemsBefore('a.ts')], [2, 0]);
    await index.query({});
    assert.deepEqual(await index.parseProblems('a.ts', live()), early);
    assert.deepEqual(await index.problemsOf('a.ts'), details);
    assert.deepEqual([index.problemsBefore('a.ts'), index.fileRow('a.ts')?.problems], [0, early.length]);
    await write('a.ts', 'const a = 1;\n');
    assert.deepEqual(await index.parseProblems('a.ts', live()), []);
    assert.equal(index.problemsBefore('a.ts'), early.length);
  });

  test('is compared with the version before it, which no one asked about', async (t) => {
    const { index, write } = scratchIndex(t);
    await write('a.ts', 'const a = 1;\n');
    await write('a.ts', 'function (\n');
    const broken = 'function (\nconst = 2;\n';
    await write('a.ts', broken);
    await write('a.ts', 'const fine = 1;\n');
    assert.deepEqual(await index.parseProblems('a.ts', live()), []);
    const before = index.problemsBefore('a.ts');
    await index.query({});
    assert.equal(index.problemsBefore('a.ts'), before);
    await write('b.ts', broken);
    assert.equal(before, index.fileRow('b.ts')?.problems);
    assert.ok(before !== undefined && before > 0);
  });

  test('is judged as it is now when another program wrote it since [S0-63]', async (t) => {
    const { index, write, put } = scratchIndex(t);
    await write('a.ts', 'const a = 1;\n');
    put('a.ts', 'function (\n');
    assert.ok((await index.parseProblems('a.ts', live())).length > 0);
    put('a.ts', 'const fine = 1;\n');
    assert.deepEqual(await index.parseProblems('a.ts', live()), []);
    assert.deepEqual(namesOf(await index.nodesOfFile('a.ts')), ['fine']);
  });

  test('can be removed', async (t) => {
    const { index, write, workspace } = scratchIndex(t, { 'b.ts': 'const b = 1;\n' });
    await index.generate();
    for (const file of ['a.ts', 'b.ts']) {
      await write(file, 'const written = 1;\n');
      const change = await workspace.removeFile(file);
      await index.refresh(change === null ? [] : [change], live());
    }
    assert.deepEqual((await index.query({ name_like: 'written' })).nodes, []);
    assert.deepEqual([index.files(), index.stats().nodes], [[], 0]);
  });

  test('is written to disk by close, with the rows of its last content', async (t) => {
    const { index, write, open } = scratchIndex(t, { 'a.ts': 'const a = 1;\n' });
    await index.generate();
    await write('a.ts', 'const last = 1;\n');
    await write('new.ts', 'const fresh = 1;\n');
    await index.close();
    const next = open();
    assert.equal((await next.generate()).parsed, 0);
    assert.deepEqual(namesOf((await next.query({})).nodes), ['last', 'fresh']);
  });

  test('is not taken for stored when it is looked at again before', async (t) => {
    const { index, write, open } = scratchIndex(t, { 'a.ts': 'const a = 1;\n' });
    await index.generate();
    await write('a.ts', 'const b = 1;\n');
    await index.parseProblems('a.ts');
    const other = open();
    assert.deepEqual(namesOf((await other.query({})).nodes), ['b']);
  });

  test('goes back to the stored rows when its content does', async (t) => {
    const { index, write } = scratchIndex(t, { 'a.ts': 'const a = 1;\n' });
    await index.generate();
    await write('a.ts', 'const b = 1;\n');
    await write('a.ts', 'const a = 1;\n');
    assert.deepEqual(namesOf((await index.query({})).nodes), ['a']);
  });

  test('ends as if every write had been read at once [S0-53] (deep)', async (t) => {
    const { index, write, workspace, open } = scratchIndex(t);
    await index.generate();
    const file = fc.constantFrom('a.ts', 'b.ts', 'c.py');
    const step = fc.oneof(
      fc.record({ file, text: fc.constantFrom('', 'const a = f();\n', 'x = 1\n', 'class K { m() {} }\n', 'if (\n') }),
      fc.record({ file, text: fc.constant(undefined) }),
      fc.constant('ask' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        for (const one of steps) {
          if (one === 'ask') await index.query({});
          else if (one.text !== undefined) await write(one.file, one.text);
          else {
            const isThere = (await workspace.stat(one.file)) !== null;
            const change = isThere ? await workspace.removeFile(one.file) : null;
            if (change !== null) await index.refresh([change], live());
          }
        }
        const fresh = open({ readOnly: true });
        await fresh.generate();
        assert.deepEqual(await everything(index), await everything(fresh));
        await fresh.close();
      }),
      { numRuns: 15 },
    );
  });
});

describe('pending facts', () => {
  const file: PendingFile = {
    unread: { problems: { problems: [], problemCount: 0 }, read: () => undefined },
    base: undefined,
  };

  test('are read in idle time', async () => {
    const read: string[] = [];
    const pending = new PendingFacts((path) => {
      read.push(path);
      pending.drop(path);
      return true;
    });
    for (const path of ['a', 'b', 'a']) pending.put(path, file);
    assert.deepEqual(read, []);
    while (pending.has('b')) await delay(5);
    assert.deepEqual(read, ['a', 'b']);
    pending.put('c', file);
    while (pending.has('c')) await delay(5);
    pending.close();
  });

  test('tell which files must be parsed again, and outlive a failure in a quiet moment', async () => {
    let tries = 0;
    const pending = new PendingFacts((path) => {
      tries += 1;
      if (path === 'broken') throw new TypeError('broken');
      return path === 'fine';
    });
    pending.put('fine', file);
    pending.put('lost', file);
    assert.deepEqual([await pending.settleAll(), pending.settleNow()], [['lost'], false]);
    pending.drop('fine');
    pending.drop('lost');
    pending.put('broken', file);
    for (const before = tries; tries === before; ) await delay(5);
    await assert.rejects(pending.settleAll(), TypeError);
    pending.drop('broken');
    pending.close();
  });
});
