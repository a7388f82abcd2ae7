import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chooseTests } from './run-tests.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

test('words choose test files by path, and titles where no path fits', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'run-tests-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const files = {
    'packages/sdk/src/git/merge-base.test.ts': "test('finds a base')",
    'packages/sdk/src/git/merge-base.ts': "test('finds a base')",
    'packages/host/test/merge.test.ts': "test('Joins two lines')",
    'packages/sdk/node_modules/x/src/merge.test.ts': '',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const merge = ['packages/host/test/merge.test.ts', 'packages/sdk/src/git/merge-base.test.ts'];
  assert.deepEqual(chooseTests(['Merge'], folder), { files: merge });
  assert.deepEqual(chooseTests(['sdk', 'merge'], folder), { files: [merge[1]] });
  assert.deepEqual(chooseTests(['joins', 'two'], folder), { files: [merge[0]], title: 'joins two' });
  assert.deepEqual(chooseTests(['joins', 'three'], folder).files, []);
});

test('the command runs what was chosen, and refuses words that fit nothing', () => {
  const run = (...words: string[]) =>
    spawnSync(process.execPath, ['scripts/run-tests.ts', ...words], {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    });
  const found = run('the slow matcher', 'reads globs');
  assert.equal(found.status, 0, found.stderr);
  assert.match(found.stdout, /reads globs by their words/);
  assert.match(found.stdout, /pass 1\b/);
  assert.equal(run('no-such-test-anywhere', String(process.pid)).status, 2);
  assert.equal(run().status, 2);
});
