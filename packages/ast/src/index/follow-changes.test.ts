import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { ToolError } from '@tool-runtime/protocol';
import { live, namesOf, scratchIndex } from '../../test/scratch-index.ts';

describe('refresh', () => {
  test('shows a write to the next query, edit after edit [S0-53]', async (t) => {
    const { index, write } = scratchIndex(t, { 'a.ts': 'const a = 1;\n' });
    await index.generate();
    for (let round = 0; round < 40; round++) {
      await write('a.ts', `const a = 1;\n${`const b${round} = 2;\n`.repeat(round % 3)}`);
      const expected = ['a', ...Array.from({ length: round % 3 }, () => `b${round}`)];
      assert.deepEqual(namesOf((await index.query({})).nodes), expected);
    }
  });

  test('makes a query wait for changes reported before it [S0-53]', async (t) => {
    const { index, workspace } = scratchIndex(t, { 'a.ts': 'const a = 1;\n' });
    await index.generate();
    const change = await workspace.writeFile('a.ts', Buffer.from('const z = 1;\n'));
    const refreshing = index.refresh([change], live());
    assert.deepEqual(namesOf((await index.query({})).nodes), ['z']);
    await refreshing;
  });

  test('takes up new files, but neither ignored ones nor other kinds', async (t) => {
    const { index, write } = scratchIndex(t, { '.gitignore': 'out/\n' });
    await index.generate();
    for (const file of ['deep/new.ts', 'out/ignored.ts', '.hidden.ts', 'notes.txt', 'odd[1]{2}*.ts']) {
      await write(file, 'export const made = 1;\n');
    }
    assert.deepEqual(index.files(), ['deep/new.ts', 'odd[1]{2}*.ts']);
  });

  test('drops the rows of a removed file', async (t) => {
    const { index, workspace } = scratchIndex(t, { 'a.ts': 'const a = 1;\n', 'b.ts': 'const b = 1;\n' });
    await index.generate();
    const change = await workspace.removeFile('a.ts');
    assert.ok(change !== null);
    await index.refresh([change], live());
    assert.deepEqual(index.files(), ['b.ts']);
    assert.deepEqual(await index.references('a'), []);
  });

  test('follows a folder that is renamed, copied and removed', async (t) => {
    const { index, workspace } = scratchIndex(t, {
      'old/a.ts': 'export const a = 1;\n',
      'old/deep/b.ts': 'export const b = 1;\n',
      'older/c.ts': 'export const c = 1;\n',
    });
    await index.generate();
    const moved = await workspace.move('old', 'new', { overwrite: false });
    await index.refresh(moved.changes, live());
    assert.deepEqual(index.files(), ['new/a.ts', 'new/deep/b.ts', 'older/c.ts']);
    assert.deepEqual(
      (await index.query({})).nodes.map((node) => node.file),
      index.files(),
    );
    const copied = await workspace.copy('new', 'copy', { overwrite: false, preserveMode: true });
    await index.refresh(copied.changes, live());
    assert.deepEqual(index.files(), ['copy/a.ts', 'copy/deep/b.ts', 'new/a.ts', 'new/deep/b.ts', 'older/c.ts']);
    const removed = await workspace.remove('new', { recursive: true });
    await index.refresh(removed?.changes ?? [], live());
    assert.deepEqual(index.files(), ['copy/a.ts', 'copy/deep/b.ts', 'older/c.ts']);
  });

  test('looks at a folder again whatever was reported about it', async (t) => {
    const { index, put, directory } = scratchIndex(t, { 'src/a.ts': 'const a = 1;\n', 'src/b.ts': 'const b = 1;\n' });
    await index.generate();
    put('src/c.ts', 'const c = 1;\n');
    put('src/a.ts', 'const aa = 1;\n');
    rmSync(path.join(directory, 'src/b.ts'));
    const folder = { sha256: null, size: 0, mode: 0o755, type: 'directory' } as const;
    await index.refresh([{ path: 'src', before: folder, after: folder }], live());
    assert.deepEqual(index.files(), ['src/a.ts', 'src/c.ts']);
    assert.deepEqual(namesOf(await index.nodesOfFile('src/a.ts')), ['aa']);
  });

  test('brings many changes in at once', async (t) => {
    const { index, workspace } = scratchIndex(t);
    await index.generate();
    const changes = [];
    for (let at = 0; at < 50; at++) {
      changes.push(await workspace.writeFile(`f${at}.ts`, Buffer.from(`export const v${at} = 1;\n`)));
    }
    await index.refresh(changes, live());
    assert.equal((await index.query({ type: 'const' })).nodes.length, 50);
  });

  test('takes large files too, which are parsed elsewhere (deep)', async (t) => {
    const { index, write } = scratchIndex(t);
    const text = Array.from({ length: 8_000 }, (_, at) => `export const value${at} = ${at};`).join('\n');
    await write('large.ts', text);
    await write('large.ts', text.replace('value7 ', 'other7 '));
    assert.equal(index.fileRow('large.ts')?.nodes, 8_000);
    assert.equal((await index.query({ name_like: 'other*' })).nodes.length, 1);
  });

  test('listens to what ignore files say from now on', async (t) => {
    const { index, write, workspace } = scratchIndex(t, { 'a.ts': 'const a = 1;\n', 'tmp/b.ts': 'const b = 1;\n' });
    await index.generate();
    await write('.gitignore', 'tmp/\n');
    assert.deepEqual(namesOf((await index.query({})).nodes), ['a']);
    const change = await workspace.removeFile('.gitignore');
    await index.refresh(change === null ? [] : [change], live());
    assert.deepEqual(namesOf((await index.query({})).nodes), ['a', 'b']);
  });

  test('ends with the reason of its signal', async (t) => {
    const { index, workspace } = scratchIndex(t, { 'a.ts': 'const a = 1;\n' });
    await index.generate();
    const change = await workspace.writeFile('a.ts', Buffer.from('const b = 1;\n'));
    const reason = new ToolError('E_TIMEOUT', 'Too slow: test');
    await assert.rejects(index.refresh([change], AbortSignal.abort(reason)), reason);
    assert.deepEqual(namesOf(await index.nodesOfFile('a.ts')), ['b'], 'the next look brings it in');
  });
});

describe('parseProblems', () => {
  test('gives the syntax errors of the file as it is now [S0-63]', async (t) => {
    const { index, write, put } = scratchIndex(t, { 'a.ts': 'const a = 1;\n' });
    await index.generate();
    assert.deepEqual(await index.parseProblems('a.ts', live()), []);
    await write('a.ts', 'const a = 1;\nfunction (\n');
    const [first] = await index.parseProblems('a.ts', live());
    assert.deepEqual([first?.path, first?.line], ['a.ts', 2]);
    assert.equal(index.problemsBefore('a.ts'), 0);
    put('a.ts', 'const mended = 1;\n');
    assert.deepEqual(await index.parseProblems('a.ts', live()), []);
    assert.equal(index.problemsBefore('a.ts'), index.fileRow('a.ts')?.problems === 0 ? 1 : undefined);
  });

  test('judges files that are not indexed too, without indexing them [S0-63]', async (t) => {
    const { index } = scratchIndex(t, { '.gitignore': 'out/\n', 'out/a.ts': 'function (\n', 'out/b.ts': 'let b;\n' });
    assert.equal((await index.parseProblems('out/a.ts', live())).length > 0, true);
    assert.deepEqual(await index.parseProblems('out/b.ts', live()), []);
    assert.deepEqual(await index.parseProblems('missing.ts', live()), []);
    assert.deepEqual(index.files(), []);
    assert.deepEqual([index.covers('x.ts'), index.covers('x.txt')], [true, false]);
  });

  test('does not pass what cannot be parsed [S0-63]', async (t) => {
    const { index, put } = scratchIndex(t);
    put('a.ts', Uint8Array.from([65, 0]));
    const [finding] = await index.parseProblems('a.ts', live());
    assert.deepEqual(finding?.details, { reason: 'binary' });
  });
});
