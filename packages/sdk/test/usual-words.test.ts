/** What agents write by habit: names and arguments of other tools, absolute paths, folders as globs, slips of the fingers. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openScratchRuntime, type ScratchRuntime } from '../src/testing/scratch-runtime.ts';

async function withFiles(use: (scratch: ScratchRuntime) => Promise<void>): Promise<void> {
  const scratch = await openScratchRuntime();
  mkdirSync(join(scratch.workspace, 'src/deep'), { recursive: true });
  writeFileSync(join(scratch.workspace, 'src/a.ts'), 'const a = 1;\n');
  writeFileSync(join(scratch.workspace, 'src/deep/b.ts'), 'const b = 2;\n');
  try {
    await use(scratch);
  } finally {
    await scratch.dispose();
  }
}

describe('absolute paths', () => {
  test('inside the workspace are the relative ones, for every tool', () =>
    withFiles(async ({ session, workspace }) => {
      const read = await session.call('file_read', { path: join(workspace, 'src/a.ts') });
      assert.equal((read.data as { content: string }).content, 'const a = 1;\n');
      const listed = await session.call('fs_list', { glob: join(workspace, 'src/*.ts') });
      assert.deepEqual(listed.data, { files: ['src/a.ts'], truncated: false });
      const found = await session.call('grep' as string, { pattern: 'const', path: workspace, files_only: true });
      assert.deepEqual((found.data as { files: string[] }).files, ['src/a.ts', 'src/deep/b.ts']);
      const copied = await session.call('fs_copy', { src: join(workspace, 'src/a.ts'), dst: join(workspace, 'c.ts') });
      assert.equal(copied.ok, true, JSON.stringify(copied.errors));
    }));

  test('outside of it are refused, and so are those that leave it again', () =>
    withFiles(async ({ session, workspace }) => {
      for (const path of ['/etc/passwd', `${workspace}/../x`, `${workspace}x/a.ts`, `${workspace}/src/../../x`]) {
        for (const [tool, args] of [
          ['file_read', { path }],
          ['fs_list', { glob: path }],
        ] as const) {
          const { errors } = await session.call(tool, args);
          assert.equal(errors[0]?.code, 'E_POLICY', `${tool} ${path}`);
        }
      }
    }));
});

test('a folder is listed and searched', () =>
  withFiles(async ({ session }) => {
    const listed = await session.call('fs_list' as string, { path: 'src' });
    assert.deepEqual(listed.data, { files: ['src/a.ts', 'src/deep/b.ts'], truncated: false });
    assert.deepEqual((await session.call('fs_list' as string, { path: 'src/a.ts' })).data, {
      files: ['src/a.ts'],
      truncated: false,
    });
    const found = await session.call('grep', { pattern: 'const b', glob: 'src', files_only: true });
    assert.deepEqual((found.data as { files: string[] }).files, ['src/deep/b.ts']);
  }));

describe('a tool that is called by the name it has elsewhere', () => {
  for (const [name, args, call] of [
    ['Read', { file_path: 'a.ts', offset: 3 }, 'file_read {"path":"a.ts","offset":3}'],
    ['Bash', { command: 'npm test' }, 'shell_exec {"cmd":"…"}'],
    ['Grep', { pattern: 'x', path: 'src' }, 'grep {"pattern":"x","glob":"src"}'],
    ['Glob', { pattern: '**/*.ts' }, 'fs_list {"glob":"**/*.ts"}'],
    ['LS', { path: 'src' }, 'fs_list {"glob":"src"}'],
    ['get_file_info', { path: 'src' }, 'fs_stat {"path":"src"}'],
    ['directory_tree', { path: 'src' }, 'fs_tree {"path":"src"}'],
    ['write_file', { path: 'a', content: 'secret' }, 'file_write {"path":"a","content":"…"}'],
  ] as const) {
    test(`${name} is answered with the call to make`, () =>
      withFiles(async ({ session }) => {
        const { errors } = await session.call(name, args);
        assert.equal(errors[0]?.code, 'E_POLICY');
        const next = String(errors[0]?.details?.['next']);
        assert.ok(next.includes(call) || (name === 'Bash' && next.includes('List the tools')), next);
      }));
  }
});

describe('a field that the tool does not have', () => {
  for (const [args, words] of [
    [{ path: 'src/a.ts', max_byte: 3 }, /max_byte: is not a known field \(did you mean max_bytes\?\)/],
    [
      { pth: 'src/a.ts' },
      /Required arguments are missing for file_read: path; not a known field: pth \(did you mean path\?\)/,
    ],
  ] as const) {
    test(`${Object.keys(args).join(', ')}: the nearest is named`, () =>
      withFiles(async ({ session }) => {
        const { errors } = await session.call('file_read' as string, args);
        assert.match(errors[0]?.message ?? '', words);
      }));
  }
});
