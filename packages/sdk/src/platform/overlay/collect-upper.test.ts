import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { loadNativeCalls } from '../descriptors/native-calls.ts';
import { collectUpper, type EffectsLimits } from './collect-upper.ts';

const native = loadNativeCalls();

/**
 * An upper folder as a command could have left it; whiteouts and opaque folders are made by the kernel, see
 * command-effects.test.ts.
 */
function layers(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'upper-'));
  const [upper, lower] = [join(root, 'upper'), join(root, 'lower')];
  for (const folder of [upper, lower]) mkdirSync(folder);
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const collect = async (limits: Partial<EffectsLimits> = {}, protectedNames: readonly string[] = []) => {
    assert.ok(native);
    const fd = openSync(lower, 'r');
    try {
      return await collectUpper({
        upper,
        lower: fd,
        native,
        sinceNs: BigInt(Date.now() + 60_000) * 1_000_000n,
        protectedNames,
        limits,
      });
    } finally {
      closeSync(fd);
    }
  };
  return { upper, lower, collect };
}

describe('the upper folder of an overlay', () => {
  test('becomes changes with content and permission bits; copies without a change are dropped', async (t) => {
    const { upper, lower, collect } = layers(t);
    for (const folder of [upper, lower]) {
      writeFileSync(join(folder, 'same'), 'same\n');
      writeFileSync(join(folder, 'mode'), 'mode\n');
      mkdirSync(join(folder, 'sub'));
    }
    chmodSync(join(upper, 'mode'), 0o750);
    writeFileSync(join(upper, 'sub/new'), 'new\n');
    chmodSync(join(upper, 'sub/new'), 0o4755);
    symlinkSync('anywhere', join(upper, 'link'));
    const { changes, leftOut, conflicts } = await collect();
    assert.deepEqual(
      changes.map(({ path, before, after }) => [
        path,
        before.kind,
        after.kind,
        'mode' in after ? after.mode : undefined,
      ]),
      [
        ['link', 'absent', 'link', undefined],
        ['mode', 'file', 'file', 0o750],
        ['sub/new', 'absent', 'file', 0o755],
      ],
    );
    assert.deepEqual([leftOut.map(({ path }) => path), conflicts], [['sub/new'], []]);
  });

  test('with more entries or bytes than may be recorded is refused, with as many it is not', async (t) => {
    const { upper, collect } = layers(t);
    for (const name of ['a', 'b', 'c']) writeFileSync(join(upper, name), '12345');
    await assert.rejects(collect({ entries: 2 }), /more than 2 entries/);
    await assert.rejects(collect({ bytes: 14 }), /more than 14 bytes/);
    assert.equal((await collect({ entries: 3, bytes: 15 })).changes.length, 3);
  });

  test('lets only files be moved that would be the same in their place; others are copied', async (t) => {
    const { upper, lower, collect } = layers(t);
    for (const name of ['plain', 'marked', 'linked', 'bits', 'hidden']) writeFileSync(join(upper, name), name);
    linkSync(join(upper, 'linked'), join(upper, 'linked2'));
    chmodSync(join(upper, 'bits'), 0o1644);
    chmodSync(join(upper, 'hidden'), 0o200);
    execFileSync('python3', [
      '-c',
      'import os,sys; os.setxattr(sys.argv[1], "user.mark", b"y")',
      join(upper, 'marked'),
    ]);
    for (const folder of [upper, lower]) mkdirSync(join(folder, 'shared'));
    chmodSync(join(lower, 'shared'), 0o2755);
    writeFileSync(join(upper, 'shared/new'), 'new');
    const { changes } = await collect();
    const movable = changes.filter(({ source }) => source !== undefined && 'stamp' in source);
    assert.deepEqual(
      movable.map(({ path }) => path),
      ['plain'],
    );
  });

  test('lets a new folder be moved only with all that is in it, and only when nothing of that is left out', async (t) => {
    const { upper, lower, collect } = layers(t);
    const kinds = ['whole', 'hard', 'pipe', 'marked', 'bits', 'setid', 'merged', 'closed'];
    for (const name of kinds) {
      mkdirSync(join(upper, name, 'deep'), { recursive: true });
      writeFileSync(join(upper, name, 'deep/file'), name);
      symlinkSync('deep/file', join(upper, name, 'link'));
    }
    linkSync(join(upper, 'hard/deep/file'), join(upper, 'hard/deep/second'));
    execFileSync('mkfifo', [join(upper, 'pipe/deep/fifo')]);
    const mark = 'import os,sys; os.setxattr(sys.argv[1], "user.overlay.opaque", b"y")';
    execFileSync('python3', ['-c', mark, join(upper, 'marked/deep')]);
    chmodSync(join(upper, 'bits/deep'), 0o2755);
    chmodSync(join(upper, 'setid/deep/file'), 0o4755);
    mkdirSync(join(lower, 'merged'));
    chmodSync(join(upper, 'closed/deep'), 0o500);
    const { changes } = await collect();
    const folders = changes.filter(({ after }) => after.kind === 'folder');
    const movable = folders.filter(({ source }) => source !== undefined && 'stamp' in source);
    assert.deepEqual(
      movable.map(({ path }) => path),
      ['merged/deep', 'whole', 'whole/deep'],
    );
    const files = changes.filter(({ path }) => path.startsWith('whole/'));
    assert.deepEqual(
      files.map(({ path, after }) => [path, after.kind]),
      [
        ['whole/deep', 'folder'],
        ['whole/deep/file', 'file'],
        ['whole/link', 'link'],
      ],
    );
  });

  test('never puts a link in the way of a protected name, nor removes a folder that holds one', async (t) => {
    const { upper, collect } = layers(t);
    symlinkSync('/etc', join(upper, 'conf'));
    mkdirSync(join(upper, 'other'));
    const { changes, leftOut } = await collect({}, ['conf/policy', 'other/policy']);
    assert.deepEqual(
      changes.map(({ path }) => path),
      ['other'],
    );
    assert.deepEqual(leftOut, [{ path: 'conf', reason: 'in the way of a protected name' }]);
  });
});
