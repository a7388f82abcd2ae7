import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { closeSync, openSync, readdirSync, statSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { everything, namesOf, scratchIndex } from '../../test/scratch-index.ts';

const FILES = {
  'a.ts': 'export function a() { return b(); }\n',
  'b.ts': "import { a } from './a.ts';\nexport const b = () => a();\n",
};

describe('the stored index', () => {
  test('serves the next process without parsing again [S0-52]', async (t) => {
    const { index, open } = scratchIndex(t, FILES);
    await index.generate();
    const before = await everything(index);
    await index.close();
    const next = open();
    const { parsed, unchanged } = await next.generate();
    assert.deepEqual([parsed, unchanged], [0, 2]);
    assert.deepEqual(await everything(next), before);
    assert.deepEqual([next.stats().storage, next.stats().generated], ['disk', true]);
  });

  test('is built anew when the file is no database', async (t) => {
    const { index, open, state } = scratchIndex(t, FILES);
    await index.generate();
    await index.close();
    writeFileSync(path.join(state, 'ast.db'), 'this is no database, and long enough to be looked at as one'.repeat(50));
    const next = open();
    assert.match(next.stats().note ?? '', /damaged/);
    assert.deepEqual([(await next.generate()).parsed, next.stats().storage], [2, 'disk']);
    assert.deepEqual(namesOf((await next.query({})).nodes), ['a', 'b']);
  });

  test('gives true answers when pages in the middle are damaged (deep)', async (t) => {
    const many = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [`f${at}.ts`, `export function fn${at}() { ${'call();'.repeat(400)} }\n`]),
    );
    const { index, open, state } = scratchIndex(t, many);
    await index.generate();
    const before = await everything(index);
    await index.close();
    const file = path.join(state, 'ast.db');
    const { size } = statSync(file);
    const database = new DatabaseSync(file);
    const rows = database.prepare('SELECT path FROM file').all();
    database.close();
    assert.equal(rows.length, 60);
    const bytes = Buffer.alloc(4096, 0x5a);
    for (let at = 3; at * 4096 + 4096 <= size; at += 3) writeAt(file, bytes, at * 4096);
    const next = open();
    await next.generate();
    assert.deepEqual(await everything(next), before);
  });

  test('drops rows of another layout or another parser', async (t) => {
    const { index, open, state } = scratchIndex(t, FILES);
    await index.generate();
    await index.close();
    const file = path.join(state, 'ast.db');
    let database = new DatabaseSync(file);
    database.exec("UPDATE file SET parser = 'older' WHERE path = 'a.ts'");
    database.close();
    const second = open();
    assert.deepEqual(namesOf((await second.query({})).nodes), ['a', 'b']);
    await second.close();
    database = new DatabaseSync(file);
    assert.notEqual(database.prepare("SELECT parser FROM file WHERE path = 'a.ts'").get()?.['parser'], 'older');
    database.exec('PRAGMA user_version = 999');
    database.close();
    assert.equal((await open().generate()).parsed, 2);
  });

  test('stays in memory for a workspace that is only read', async (t) => {
    const { index, state } = scratchIndex(t, FILES, { readOnly: true });
    await index.generate();
    assert.deepEqual(namesOf((await index.query({})).nodes), ['a', 'b']);
    assert.equal(index.stats().storage, 'memory');
    assert.throws(() => readdirSync(state), { code: 'ENOENT' });
  });

  test('stays in memory, and says so, while another program holds the database', async (t) => {
    const { index, open, state } = scratchIndex(t, FILES);
    await index.generate();
    await index.close();
    const holder = new DatabaseSync(path.join(state, 'ast.db'));
    holder.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    const next = open();
    assert.match(next.stats().note ?? '', /locked/);
    assert.equal((await next.generate()).parsed, 2);
    assert.deepEqual(namesOf((await next.query({})).nodes), ['a', 'b']);
    holder.exec('ROLLBACK');
    holder.close();
    assert.equal((await open().generate()).unchanged, 2);
  });

  test('is not a relative folder', (t) => {
    const { open } = scratchIndex(t);
    assert.throws(() => open({ folder: 'state' }), TypeError);
  });

  test('is shared by two indexes, which see the same files and use each other’s rows', async (t) => {
    const { index, open, put } = scratchIndex(t, FILES);
    const other = open();
    await Promise.all([index.generate(), other.generate()]);
    assert.deepEqual(await everything(other), await everything(index));
    put('a.ts', 'export function renamed() {}\n');
    assert.deepEqual(namesOf((await index.query({}, { fresh: true })).nodes), ['renamed', 'b']);
    await index.generate();
    assert.deepEqual(namesOf((await other.query({}, { fresh: true })).nodes), ['renamed', 'b']);
    put('b.ts', 'export const c = 1;\n');
    await index.generate();
    assert.equal((await other.generate()).parsed, 0, 'the rows of the first index are taken over');
    assert.deepEqual(await everything(other), await everything(index));
  });

  test('survives another process that writes to it at the same time (deep)', async (t) => {
    const { index, open, put, directory, state } = scratchIndex(t);
    for (let at = 0; at < 30; at++) put(`f${at}.ts`, `export const v${at} = ${at};\n`);
    const script = `
      import { createWorkspace, openRoot } from '@tool-runtime/sdk/testing';
      import { createCodeIndex } from './src/index/code-index.ts';
      const [, directory, folder] = process.argv;
      const index = createCodeIndex({ workspace: createWorkspace(openRoot(directory)), folder, workers: 1 });
      for (let round = 0; round < 4; round++) await index.generate({ incremental: false });
      console.log(index.stats().storage, index.stats().nodes);
      await index.close();`;
    const other = promisify(execFile)(
      process.execPath,
      ['-C', 'tool-runtime-source', '--input-type=module', '-e', script, directory, state],
      { cwd: fileURLToPath(new URL('../../', import.meta.url)) },
    );
    for (let round = 0; round < 4; round++) await index.generate({ incremental: false });
    assert.equal((await other).stdout.trim(), 'disk 30');
    const expected = await everything(index);
    await index.close();
    const next = open();
    assert.equal((await next.generate()).parsed, 0);
    assert.deepEqual(await everything(next), expected);
  });

  test('survives two indexes that write at the same time', async (t) => {
    const { index, open, put } = scratchIndex(t);
    const other = open();
    for (let round = 0; round < 5; round++) {
      for (let at = 0; at < 30; at++) put(`f${at}.ts`, `export const v${at}x${round} = ${at};\n`);
      await Promise.all([index.generate(), other.generate({ incremental: false })]);
    }
    const expected = await everything(index);
    assert.deepEqual(await everything(other), expected);
    await Promise.all([index.close(), other.close()]);
    const next = open();
    assert.equal((await next.generate()).parsed, 0);
    assert.deepEqual(await everything(next), expected);
  });
});

function writeAt(file: string, bytes: Uint8Array, position: number): void {
  const handle = openSync(file, 'r+');
  writeSync(handle, bytes, 0, bytes.length, position);
  closeSync(handle);
}
