import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createScratch, jsonLines, runCli } from '../../../test/run-cli.ts';
import { createToolScratch, readResult, type ToolScratch, WITH_OUTPUT } from '../../../test/tool-scratch.ts';

let scratch: ToolScratch;
/** Run ids in the order they were made: a success, a failure, a refusal. */
let ids: readonly string[];

before(async () => {
  scratch = createToolScratch();
  await scratch.cli(['lock', 'work']);
  await scratch.cli(['run', 'work', WITH_OUTPUT]);
  await scratch.cli(['run', 'work', 'exit 3']);
  await scratch.cli(['run', 'work', '--inputs', '{"a":1}']);
  ids = scratch.runFolders('work').map((folder) => basename(folder));
  assert.equal(ids.length, 3);
});

after(() => scratch[Symbol.dispose]());

const runs = (...words: string[]) => scratch.cli(['runs', ...words]);

/** Changes a file of the first run for as long as `act` takes. */
async function whileChanged(file: string, text: string, act: () => Promise<void>): Promise<void> {
  const path = join(scratch.runFolders('work')[0] ?? '', file);
  const kept = readFileSync(path);
  writeFileSync(path, text);
  try {
    await act();
  } finally {
    writeFileSync(path, kept);
  }
}

describe('tool-runtime runs list', () => {
  test('names runs newest first, for people and for programs [S4-39]', async () => {
    const { code, stdout } = await runs('list');
    assert.equal(code, 0);
    const lines = stdout.trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => line.slice(0, 34)),
      ids.toReversed(),
    );
    assert.match(lines[0] ?? '', / {2}work {2}failure {2}exit 14 \(did not run\) {2}\d+ ms {2}no outputs$/);
    assert.match(lines[1] ?? '', / {2}work {2}failure {2}exit 3 {2}\d+ ms {2}no outputs$/);
    assert.match(lines[2] ?? '', / {2}work {2}success {2}exit 0 {2}\d+ ms {2}a\.txt \(4 bytes\)$/);
    const failed = jsonLines((await runs('list', 'work', '--failed', '--limit', '1', '--json')).stdout);
    assert.deepEqual(
      failed.map(({ run_id, status, exit_code }) => [run_id, status, exit_code]),
      [[ids[2], 'failure', 14]],
    );
    assert.equal((await runs('list', 'other')).stdout, 'no runs\n');
  });

  test('shows what is damaged', async () => {
    await whileChanged('result.json', '{}', async () => {
      assert.match(
        (await runs('list', '--failed')).stdout,
        new RegExp(`^${ids[0]} {2}work {2}damaged {2}result\\.json`, 'm'),
      );
    });
  });

  test('is empty where nothing ran, and makes nothing', async () => {
    using empty = createScratch();
    const { code, stdout } = await runCli(['runs', 'list', ...empty.options]);
    assert.deepEqual([code, stdout, existsSync(empty.state)], [0, 'no runs\n', false]);
  });
});

describe('tool-runtime runs show', () => {
  test('prints the result of a run by its id [S4-15]', async () => {
    const { code, stdout } = await runs('show', ids[0] ?? '');
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(stdout), readResult(scratch.runFolders('work')[0] ?? ''));
    assert.equal((await runs('show', `work/${ids[0]}`, '--json')).stdout.trimEnd().includes('\n'), false);
  });

  test('prints the bytes of an output, as they are for programs, and no others [S4-13] (deep)', async () => {
    const { code, stdout } = await runs('show', ids[0] ?? '', '--output', 'a.txt');
    assert.deepEqual([code, stdout], [0, 'a\u001bb\n']);
    for (const path of ['../../../key', 'result.json']) {
      const refused = await runs('show', ids[0] ?? '', '--output', path);
      assert.deepEqual([refused.code, refused.stdout], [1, '']);
      assert.match(refused.stderr, /^error E_FILE_IO Run has no such output/);
    }
    await whileChanged('a.txt', 'evil', async () => {
      const changed = await runs('show', ids[0] ?? '', '--output', 'a.txt');
      assert.deepEqual([changed.code, changed.stdout], [1, '']);
      assert.match(changed.stderr, /not what the run left/);
    });
  });

  test('ends with 1 when there is no such run', async () => {
    for (const name of ['2001-01-01T00-00-00-000000Z-000000', '../x']) {
      const { code, stderr } = await runs('show', name);
      assert.equal(code, 1);
      assert.match(stderr, /^error No such run/);
    }
  });
});

describe('tool-runtime runs verify', () => {
  test('proves every run, or those that are named [S4-27 S4-50] (deep)', async () => {
    const { code, stdout, stderr } = await runs('verify');
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^(?:\S+ {2}work {2}ok\n){3}3 ok\n$/);
    const named = await runs('verify', ids[1] ?? '', '--json');
    const [verdict] = jsonLines(named.stdout);
    assert.deepEqual([named.code, verdict?.['run_id'], verdict?.['verdict']], [0, ids[1], 'ok']);
  });

  test('ends with 1 and says what is damaged [S4-27] (deep)', async () => {
    await whileChanged('a.txt', 'evil', async () => {
      const { code, stdout } = await runs('verify');
      assert.equal(code, 1);
      assert.match(stdout, new RegExp(`^${ids[0]} {2}work {2}damaged: output a\\.txt: digest differs$`, 'm'));
      assert.match(stdout, /^2 ok, 1 damaged$/m);
    });
    assert.equal((await runs('verify', ids[0] ?? '', '2001-01-01T00-00-00-000000Z-000000')).code, 1);
  });

  test('does not know runs of another journal [S4-50] (deep)', async () => {
    using other = createToolScratch();
    await other.cli(['lock', 'work']);
    await other.cli(['run', 'work', 'result']);
    for (const name of ['journal.db', 'journal.db-wal', 'journal.db-shm']) {
      rmSync(join(other.state, name), { force: true });
    }
    const { code, stdout } = await other.cli(['runs', 'verify']);
    assert.equal(code, 1);
    const unknown = / {2}unknown to the journal: no record of its call; the journal is broken at record \d+\n1 unknown/;
    assert.match(stdout, unknown);
  });
});

describe('tool-runtime runs prune', () => {
  test('removes old runs, says how much, and keeps what it is told to keep (deep)', async () => {
    assert.equal((await runs('prune')).code, 2);
    assert.equal((await runs('prune', '--older-than', 'x')).code, 2);
    assert.equal((await runs('prune', '--older-than', '1')).stdout, '0 runs removed, 0 bytes\n');
    const dry = await runs('prune', '--older-than', '0', '--failed-only', '--dry-run');
    assert.match(
      dry.stdout,
      /^external\/runs\/work\/\S+\nexternal\/runs\/work\/\S+\n2 runs would be removed, \d+ bytes\n$/,
    );
    assert.equal(scratch.runFolders('work').length, 3);
    const removed = await runs('prune', '--older-than', '0', '--keep', '1', '--failed-only', '--json');
    assert.equal(removed.code, 0);
    assert.deepEqual(JSON.parse(removed.stdout).removed, [`external/runs/work/${ids[1]}`]);
    const rest = await runs('prune', '--older-than', '0');
    assert.match(rest.stdout, /^2 runs removed, [1-9]\d* bytes\n$/);
    assert.deepEqual(scratch.runFolders('work'), []);
  });
});
