import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { RuntimeOptions } from '../../runtime.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';
import { fsStat } from './fs-stat.ts';

async function scene(t: TestContext, options: Partial<RuntimeOptions> = {}) {
  const scratch = await openScratchRuntime(options);
  t.after(() => scratch.dispose());
  return {
    ...scratch,
    at: (path: string) => join(scratch.workspace, path),
    stat: async (path: string | readonly string[]) => {
      const answer = await scratch.session.call('fs_stat', { path: path as string });
      assert.ok(answer.ok, JSON.stringify(answer.errors));
      return fsStat.data.parse(answer.data).entries;
    },
  };
}

const digest = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

test('fs_stat tells type, size, mode, time, version and lines', async (t) => {
  const { at, stat } = await scene(t);
  writeFileSync(at('a.txt'), 'one\ntwo\nthree');
  chmodSync(at('a.txt'), 0o640);
  utimesSync(at('a.txt'), 1_700_000_000, 1_700_000_000);
  assert.deepEqual(await stat('a.txt'), [
    {
      path: 'a.txt',
      type: 'file',
      size: 13,
      mode: '0640',
      mtime: '2023-11-14T22:13:20.000Z',
      sha256: digest('one\ntwo\nthree'),
      lines: 3,
      ignored: false,
    },
  ]);
});

test('fs_stat describes several paths in their order, and what is missing is an answer', async (t) => {
  const { at, stat, session } = await scene(t);
  mkdirSync(at('dir'));
  writeFileSync(at('empty'), '');
  writeFileSync(at('raw.bin'), Buffer.from([0, 1, 2, 255, 0, 10]));
  writeFileSync(at('wide.txt'), Buffer.from('\ufeffeins\nzwei\n', 'utf16le'));
  const entries = await stat(['dir', 'nothing/here', 'empty', 'raw.bin', 'wide.txt', './dir/../empty']);
  assert.deepEqual(
    entries.map(({ path, type, lines }) => [path, type, lines]),
    [
      ['dir', 'directory', undefined],
      ['nothing/here', 'missing', undefined],
      ['empty', 'file', 0],
      ['raw.bin', 'file', undefined],
      ['wide.txt', 'file', 2],
      ['./dir/../empty', 'file', 0],
    ],
  );
  assert.deepEqual(entries[1], { path: 'nothing/here', type: 'missing' });
  assert.equal(entries[3]?.sha256, digest(Buffer.from([0, 1, 2, 255, 0, 10])));
  assert.equal(entries[0]?.sha256, undefined);
  const named = await session.call('fs_stat' as string, { paths: ['empty', at('dir')] });
  assert.deepEqual(
    (named.data as { entries: { path: string }[] }).entries.map(({ path }) => path),
    ['empty', 'dir'],
  );
});

test('fs_stat describes a link itself, wherever it leads', async (t) => {
  const { at, stat } = await scene(t);
  mkdirSync(at('dir'));
  writeFileSync(at('dir/a'), 'x');
  symlinkSync('dir/a', at('near'));
  symlinkSync('/etc/passwd', at('far'));
  symlinkSync('gone', at('broken'));
  const entries = await stat(['near', 'far', 'broken']);
  assert.deepEqual(
    entries.map(({ type, target, sha256, lines }) => [type, target, sha256, lines]),
    [
      ['symlink', 'dir/a', undefined, undefined],
      ['symlink', '/etc/passwd', undefined, undefined],
      ['symlink', 'gone', undefined, undefined],
    ],
  );
  symlinkSync('dir', at('folder'));
  const [through] = await stat('folder/a');
  assert.deepEqual([through?.type, through?.lines, through?.ignored], ['file', 1, undefined]);
});

test('fs_stat says what an ignore file leaves out of listings, and says nothing about .git', async (t) => {
  const { at, stat } = await scene(t);
  for (const folder of ['node_modules/x', 'src', '.git', 'odd[1]']) mkdirSync(at(folder), { recursive: true });
  for (const file of ['node_modules/x/a.js', 'src/a.log', 'src/a.ts', '.env', '.git/HEAD', 'odd[1]/{a}*.log']) {
    writeFileSync(at(file), 'x\n');
  }
  writeFileSync(at('.gitignore'), '*.log\n!odd*/**\n');
  const names = ['node_modules/x/a.js', 'src/a.log', 'src/a.ts', '.env', '.git/HEAD', 'odd[1]/{a}*.log', 'src', '.'];
  assert.deepEqual(
    (await stat(names)).map(({ ignored }) => ignored),
    [true, true, false, false, undefined, false, false, undefined],
  );
});

test('fs_stat refuses paths that leave the workspace and a list that is empty or too long', async (t) => {
  const { at, session } = await scene(t);
  writeFileSync(at('file'), '');
  const below = await session.call('fs_stat', { path: ['file', 'file/a'] });
  assert.deepEqual([below.ok, below.errors[0]?.details?.['reason']], [false, 'ENOTDIR']);
  for (const path of ['../x', '/etc/passwd', ['a', '../x']]) {
    const { ok, errors } = await session.call('fs_stat', { path });
    assert.deepEqual([ok, errors[0]?.code], [false, 'E_POLICY'], String(path));
  }
  for (const path of ['', [], [''], Array.from({ length: 101 }, (_, at) => `f${at}`)]) {
    const { ok, errors } = await session.call('fs_stat', { path });
    assert.deepEqual([ok, errors[0]?.code], [false, 'E_VALIDATION_FAIL'], String(path));
  }
});

test('fs_stat keeps the rules about paths, for each path of a list', async (t) => {
  const text = "version: 1\narg_constraints: [{ tool: fs_stat, arg_patterns: ['docs/**'] }]\n";
  const { at, session, stat } = await scene(t, { registry: { file: 'r.yaml', text } });
  mkdirSync(at('docs'));
  mkdirSync(at('secret'));
  writeFileSync(at('docs/a.md'), 'a\n');
  writeFileSync(at('secret/a.md'), 'a\n');
  symlinkSync('../secret/a.md', at('docs/link.md'));
  for (const path of ['secret/a.md', ['docs/a.md', 'secret/a.md'], 'docs/link.md']) {
    const { ok, errors } = await session.call('fs_stat', { path });
    assert.deepEqual([ok, errors[0]?.code], [false, 'E_POLICY'], String(path));
  }
  assert.equal((await stat(['docs/a.md', 'docs/b.md']))[0]?.lines, 1);
});
