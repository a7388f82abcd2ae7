import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chooseSuite, chooseTests, longestFirst, planBatches, slowestFiles } from './run-tests.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

test('words choose test files by path, and titles where no path fits; suites choose by name', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'run-tests-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const files = {
    'packages/sdk/src/git/merge-base.test.ts': "test('finds a base')",
    'packages/sdk/src/git/merge-base.ts': "test('finds a base')",
    'packages/host/test/merge.test.ts': "test('Joins two lines'); test('joins many (deep)')",
    'packages/sdk/test/merge-loop.deep.test.ts': "test('merges for ever')",
    'packages/sdk/node_modules/x/src/merge.test.ts': '',
    'packages/sdk/node_modules/x/src/merge.deep.test.ts': '',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const merge = ['packages/host/test/merge.test.ts', 'packages/sdk/src/git/merge-base.test.ts'];
  const deep = ['packages/sdk/test/merge-loop.deep.test.ts'];
  assert.deepEqual(chooseTests(['Merge'], folder), { files: [...merge, ...deep] });
  assert.deepEqual(chooseTests(['sdk', 'merge'], folder), { files: [merge[1], ...deep] });
  assert.deepEqual(chooseTests(['for', 'ever'], folder), { files: deep, only: `/${RegExp.escape('for ever')}/i` });
  assert.deepEqual(chooseTests(['joins', 'two'], folder), {
    files: [merge[0]],
    only: `/${RegExp.escape('joins two')}/i`,
  });
  assert.deepEqual(chooseTests(['joins', 'three'], folder).files, []);
  const pattern = '/\\(deep\\)$/';
  assert.deepEqual(chooseSuite('fast', folder), [{ files: merge, without: pattern }]);
  assert.deepEqual(chooseSuite('deep', folder), [{ files: deep }, { files: [merge[0]], only: pattern }]);
  assert.deepEqual(chooseSuite('all', folder), [{ files: [...merge, ...deep] }]);
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
  assert.equal(run('--fast', '--deep').status, 2);
  assert.equal(run('--deep', 'words').status, 2);
});

test('what tests the whole product begins first, what tests one source last', () => {
  const files = [
    'bench/a.test.ts',
    'packages/a/src/a.test.ts',
    'packages/a/src/b.test.ts',
    'packages/b/test/a.test.ts',
  ];
  const [bench, first, second, whole] = files;
  assert.deepEqual(longestFirst([...files, 'test/z.test.ts']), ['test/z.test.ts', bench, whole, first, second]);
});

test('a run ends with its ten slowest files, the slowest first', () => {
  const seconds = new Map(Array.from({ length: 12 }, (_, index) => [`folder/f${index}.test.ts`, index]));
  const [head, ...lines] = slowestFiles(seconds).split('\n');
  assert.equal(head, 'Slowest of 12 files, which took 66 s in all:');
  assert.deepEqual(
    lines.map((line) => line.trim().split(/ +/)),
    [11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map((index) => [`${index}.0`, 's', `folder/f${index}.test.ts`]),
  );
  assert.equal(slowestFiles(new Map([['one.test.ts', 3]])), '');
});

test('files of a package share processes, those that change their process or have hooks of their own do not', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'run-tests-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const put = (name: string, text: string): string => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
    return name;
  };
  const plain = Array.from({ length: 30 }, (_, index) => put(`packages/sdk/src/f${index}.test.ts`, 'test();'));
  const other = put('scripts/x.test.ts', 'test(() => {\n  after(() => {});\n});');
  const alone = [
    put('packages/sdk/src/chdir.test.ts', "process.chdir('/');"),
    put('packages/sdk/src/env.test.ts', "process.env['X'] = '1';"),
    put('packages/sdk/src/hooks.test.ts', 'const x = 1;\nbeforeEach(() => {});'),
    put('packages/sdk/src/memory.test.ts', 'globalThis.gc?.();'),
    put('packages/sdk/src/path.test.ts', 'await traceFiles(work);'),
  ];
  assert.deepEqual(planBatches([...plain, ...alone, other], folder), {
    batches: [
      { name: 'sdk-0.test.mjs', files: plain.slice(0, 24) },
      { name: 'sdk-1.test.mjs', files: plain.slice(24) },
      { name: 'scripts-0.test.mjs', files: [other] },
    ],
    alone,
  });
});

test('a failing test and a file that cannot be loaded fail the run', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'run-tests-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  const run = (...words: string[]) =>
    spawnSync(process.execPath, [join(ROOT, 'scripts/run-tests.ts'), ...words], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, TMPDIR: undefined },
    });
  const one = (title: string, body: string) => `require('node:test').test('${title}', () => { ${body} });\n`;
  // Otherwise a manifest in a folder above decides what kind of modules these are.
  write('package.json', '{}');
  write('scripts/test-process.ts', readFileSync(join(ROOT, 'scripts/test-process.ts'), 'utf8'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  write('test/good.test.ts', one('good', '') + one('slow (deep)', 'throw 1'));
  const good = run('--fast');
  assert.equal(good.status, 0, good.stdout + good.stderr);
  assert.match(good.stdout, /pass 1\n/);
  const deep = run('--deep');
  assert.equal(deep.status, 1);
  assert.match(deep.stdout, /fail 1\n/);
  write(
    'test/scratch.test.ts',
    one('scratch', `require('node:fs').writeFileSync('where', require('node:os').tmpdir())`),
  );
  assert.equal(run('scratch').status, 0);
  const scratch = readFileSync(join(folder, 'where'), 'utf8');
  const isOwn = basename(scratch).startsWith('tool-runtime-tests-');
  // Ordinary users may not mount: their tests use the folder they have.
  assert.equal(isOwn, process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0, scratch);
  if (isOwn) assert.ok(!existsSync(scratch), 'the scratch folder is still there');
  rmSync(join(folder, 'test/scratch.test.ts'));
  write('test/left.test.ts', one('leaves a timer behind', 'setTimeout(() => {}, 1e8)'));
  assert.equal(run('left').status, 0);
  rmSync(join(folder, 'test/left.test.ts'));
  write('test/bad.test.ts', "require('./missing.cjs');");
  assert.equal(run('bad').status, 1);
  write('test/bad.test.ts', one('bad', 'throw 1'));
  const fast = run('--fast');
  assert.equal(fast.status, 1);
  assert.match(fast.stdout, /Slowest of 2 files/);
});
