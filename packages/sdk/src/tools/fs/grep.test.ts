import assert from 'node:assert/strict';
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ToolError } from '@tool-runtime/protocol';
import type { SearchQuery } from '../../contracts/search.ts';
import type { ToolContext } from '../../contracts/tool.ts';
import type { Workspace } from '../../contracts/workspace.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';
import { grep } from './grep.ts';

async function scene(t: TestContext, files: Readonly<Record<string, string>>) {
  const scratch = await openScratchRuntime();
  t.after(() => scratch.dispose());
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(scratch.workspace, path)), { recursive: true });
    writeFileSync(join(scratch.workspace, path), content);
  }
  const call = (args: Record<string, unknown>, options = {}) => scratch.session.call('grep', args as never, options);
  return {
    workspace: scratch.workspace,
    call,
    search: async (args: Record<string, unknown>, options = {}) => {
      const { ok, data, errors } = await call(args, options);
      assert.ok(ok, JSON.stringify(errors));
      return grep.data.parse(data);
    },
  };
}

test('grep answers file, line, column and snippet, ignoring case by default [S0-33]', async (t) => {
  const { search } = await scene(t, { 'src/x.rs': 'fn a() {\n  é Panic!("x");\n}\n', 'b.md': 'panic!\n' });
  assert.deepEqual(await search({ pattern: 'panic!', glob: 'src/**' }), {
    matches: [{ file: 'src/x.rs', line: 2, col: 5, snippet: '  é Panic!("x");' }],
    truncated: false,
    partial: false,
  });
  const { matches } = await search({ pattern: 'panic!', case_sensitive: true, context: 1 });
  assert.deepEqual(matches, [{ file: 'b.md', line: 1, col: 1, snippet: 'panic!', before: [], after: [] }]);
});

test('grep reports files or counts, whole words, plain text and matches over lines [S0-33]', async (t) => {
  const { search } = await scene(t, { a: 'one two\none\nbone\n', b: 'x.y\none', c: 'xzy' });
  assert.deepEqual(await search({ pattern: 'one', files_only: true }), {
    matches: [],
    files: ['a', 'b'],
    truncated: false,
    partial: false,
  });
  const { counts } = await search({ pattern: 'one', count: true });
  assert.deepEqual(counts, [
    { file: 'a', count: 3 },
    { file: 'b', count: 1 },
  ]);
  assert.equal((await search({ pattern: 'one', word: true })).matches.length, 3);
  assert.deepEqual((await search({ pattern: 'x.y', fixed: true, files_only: true })).files, ['b']);
  assert.deepEqual(
    (await search({ pattern: 'y\\none', multiline: true })).matches.map(({ line }) => line),
    [1, 2],
  );
});

test('grep caps results and snippets and says so [S0-33]', async (t) => {
  const { search } = await scene(t, {
    a: 'needle\n'.repeat(20),
    long: `${'x'.repeat(5000)}needle${'y'.repeat(5000)}\n`,
  });
  const capped = await search({ pattern: 'needle', glob: 'a', max_results: 7 });
  assert.deepEqual([capped.matches.length, capped.truncated], [7, true]);
  const [found] = (await search({ pattern: 'needle', glob: 'long' })).matches;
  assert.ok(found);
  assert.deepEqual(
    [found.col, found.cut, found.snippet.length, found.snippet.includes('needle')],
    [5001, true, 500, true],
  );
});

test('grep refuses a bad pattern with advice, and survives one made to be slow [S0-33]', async (t) => {
  const { call, search } = await scene(t, { a: `${'a'.repeat(100_000)}!` });
  const { ok, errors } = await call({ pattern: '(unclosed' });
  assert.deepEqual([ok, errors[0]?.code], [false, 'E_VALIDATION_FAIL']);
  assert.match(String(errors[0]?.details?.['next']), /fixed/);
  assert.deepEqual((await search({ pattern: '^(a+)+$' })).matches, []);
});

test('grep skips binary, hidden and vendor files, and stays inside [S0-33]', async (t) => {
  const { call, search, workspace } = await scene(t, {
    'node_modules/x.js': 'needle',
    '.env': 'needle',
    binary: 'needle\0',
    text: 'needle',
  });
  symlinkSync('/etc', join(workspace, 'out'));
  assert.deepEqual((await search({ pattern: 'needle', files_only: true })).files, ['text']);
  assert.deepEqual((await search({ pattern: '', glob: 'out/**' })).matches, []);
  const all = await search({ pattern: 'needle', files_only: true, include_hidden: true, include_ignored: true });
  assert.deepEqual(all.files, ['.env', 'node_modules/x.js', 'text']);
  for (const glob of ['../**', '/etc/**']) {
    const { errors } = await call({ pattern: 'x', glob });
    assert.deepEqual([errors[0]?.code, errors[0]?.details?.['rule']], ['E_POLICY', 'sec.paths.sandbox']);
  }
});

test('grep returns what it has when its time is up, flagged and not failed [S0-33 S0-80]', async (t) => {
  const { search, workspace } = await scene(t, { 'a-first': 'needle\n' });
  writeFileSync(join(workspace, 'big'), 'x y z\n'.repeat(700_000));
  for (let copy = 0; copy < 1500; copy++) linkSync(join(workspace, 'big'), join(workspace, `big-${copy}`));
  const { partial, truncated } = await search({ pattern: 'needle' }, { timeoutMs: 300 });
  assert.deepEqual([partial, truncated], [true, false]);
  assert.equal((await search({ pattern: 'needle', glob: 'a-*' })).partial, false);
  assert.equal(grep.timeoutMs, 10_000);
});

test('grep gives no partial answer to a caller that stopped waiting [S0-33]', async () => {
  const controller = new AbortController();
  const workspace = {
    search: async (_: SearchQuery) => ({ matches: [], counts: [], truncated: false, interrupted: true }),
  } as Partial<Workspace> as Workspace;
  const context = { workspace, signal: controller.signal } as Partial<ToolContext> as ToolContext;
  const reason = new ToolError('E_INTERNAL', 'Cancelled by the caller');
  controller.abort(reason);
  await assert.rejects(async () => grep.run(grep.args.parse({ pattern: 'x' }), context), reason);
});

test('grep has the limits of its contract [S0-33]', () => {
  const { pattern: _, ...defaults } = grep.args.parse({ pattern: '' });
  assert.deepEqual(defaults, {
    case_sensitive: false,
    max_results: 1000,
    context: 0,
    files_only: false,
    count: false,
    multiline: false,
    word: false,
    fixed: false,
    include_hidden: false,
    include_ignored: false,
  });
  for (const bad of [
    {},
    { pattern: 'x'.repeat(10_241) },
    { pattern: 'x', max_results: 0 },
    { pattern: 'x', max_results: 100_001 },
    { pattern: 'x', context: -1 },
    { pattern: 'x', files_only: true, count: true },
    { pattern: 'x', extra: 1 },
  ]) {
    assert.ok(!grep.args.safeParse(bad).success, JSON.stringify(bad).slice(0, 60));
  }
  assert.ok(grep.args.safeParse({ pattern: 'x'.repeat(10_240), max_results: 100_000, count: true }).success);
});
