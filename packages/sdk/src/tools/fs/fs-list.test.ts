import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';
import { fsList } from './fs-list.ts';

async function scene(t: TestContext, paths: readonly string[]) {
  const scratch = await openScratchRuntime();
  t.after(() => scratch.dispose());
  for (const path of paths) {
    mkdirSync(dirname(join(scratch.workspace, path)), { recursive: true });
    writeFileSync(join(scratch.workspace, path), '');
  }
  return {
    workspace: scratch.workspace,
    call: (args: Record<string, unknown>) => scratch.session.call('fs_list', args as never),
    list: async (args: Record<string, unknown>) => {
      const { ok, data, errors } = await scratch.session.call('fs_list', args as never);
      assert.ok(ok, JSON.stringify(errors));
      return fsList.data.parse(data);
    },
  };
}

test('fs_list answers sorted workspace-relative files and says when there are more [S0-26]', async (t) => {
  const { list } = await scene(t, ['src/lib.rs', 'src/auth/mod.rs', 'src/auth/notes.md', 'top.rs']);
  assert.deepEqual(await list({ glob: 'src/**/*.rs' }), { files: ['src/auth/mod.rs', 'src/lib.rs'], truncated: false });
  assert.deepEqual(await list({ glob: '**/*.rs', max_results: 2 }), {
    files: ['src/auth/mod.rs', 'src/lib.rs'],
    truncated: true,
  });
  assert.deepEqual((await list({ glob: 'src/' })).files, ['src/auth/mod.rs', 'src/auth/notes.md', 'src/lib.rs']);
  assert.equal((await list({ glob: '.' })).files.length, 4);
  assert.deepEqual((await list({ glob: '**', depth: 1, include_directories: true })).files, ['src/', 'top.rs']);
});

test('fs_list shows hidden and ignored files on demand [S0-26]', async (t) => {
  const { list, workspace } = await scene(t, ['.env', 'node_modules/x.js', 'a.log', 'a']);
  writeFileSync(join(workspace, '.gitignore'), '*.log\n');
  assert.deepEqual((await list({ glob: '**' })).files, ['a']);
  assert.deepEqual((await list({ glob: '**', include_hidden: true })).files, ['.env', '.gitignore', 'a']);
  assert.deepEqual((await list({ glob: '**', include_ignored: true })).files, ['a', 'a.log', 'node_modules/x.js']);
});

test('fs_list refuses a glob that leaves the workspace, and never goes through a link [S0-26]', async (t) => {
  const { call, list, workspace } = await scene(t, ['dir/a']);
  symlinkSync('/etc', join(workspace, 'dir/out'));
  for (const glob of ['../*', '/etc/*', 'dir/../../*', '{dir,..}/*', '{/etc,dir}/*', 'C:/x', '\\\\host/x', 'dir/..']) {
    const { ok, errors } = await call({ glob });
    assert.deepEqual(
      [ok, errors[0]?.code, errors[0]?.details?.['rule']],
      [false, 'E_POLICY', 'sec.paths.sandbox'],
      glob,
    );
  }
  assert.deepEqual((await list({ glob: 'dir/**' })).files, ['dir/a', 'dir/out']);
  assert.deepEqual((await list({ glob: 'dir/out/*' })).files, []);
  assert.deepEqual((await list({ glob: './dir/*' })).files, ['dir/a', 'dir/out']);
});

test('fs_list has the limits of its contract and refuses what is no glob [S0-26]', async (t) => {
  const defaults = fsList.args.parse({ glob: '*' });
  assert.deepEqual(defaults, {
    glob: '*',
    max_results: 5000,
    include_hidden: false,
    include_ignored: false,
    include_directories: false,
  });
  for (const bad of [{}, { glob: '' }, { glob: '*', max_results: 0 }, { glob: '*', max_results: 100_001 }]) {
    assert.ok(!fsList.args.safeParse(bad).success);
  }
  for (const bad of [{ glob: '*', depth: 0 }, { glob: '*', extra: 1 }, { glob: 'x'.repeat(1025) }]) {
    assert.ok(!fsList.args.safeParse(bad).success);
  }
  const { call } = await scene(t, []);
  assert.equal((await call({ glob: 'a{b' })).errors[0]?.code, 'E_VALIDATION_FAIL');
});

test('fs_list has ten seconds [S0-80]', () => {
  assert.equal(fsList.timeoutMs, 10_000);
});
