import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createDisk } from '../descriptors/disk.ts';
import type { RelativePath } from '../descriptors/path-rules.ts';
import { openRoot, type Root } from '../descriptors/root.ts';
import { createGoverningFiles } from './governing-files.ts';
import { openGuardedTarget } from './judge-place.ts';

for (const backend of ['openat2', 'walk'] as const) {
  test(`on ${backend} a folder that was moved out once it was open is no target, one moved inside is [S0-14 S0-34]`, (t) => {
    const base = mkdtempSync(join(tmpdir(), 'guarded-'));
    const root = openRoot(base, { backend });
    mkdirSync(join(base, 'work/folder'), { recursive: true });
    const inner = openRoot(join(base, 'work'), { backend });
    t.after(() => {
      inner.close();
      root.close();
      rmSync(base, { recursive: true, force: true });
    });
    /** The moment between opening and judging, made certain. */
    const movingAfterOpen = (from: string, to: string): Root => ({
      ...inner,
      openBeneath(path, flags, mode) {
        const fd = inner.openBeneath(path, flags, mode);
        renameSync(join(base, from), join(base, to));
        return fd;
      },
    });
    const open = (moving: Root, path: string) =>
      openGuardedTarget(
        { root: moving, path: path as RelativePath, spelling: path, isWritable: true, disk: createDisk() },
        createGoverningFiles(),
        { followLast: true, missingFolders: 'refuse' },
      );
    assert.throws(() => open(movingAfterOpen('work/folder', 'outside'), 'folder/file'), { code: 'EXDEV' });
    renameSync(join(base, 'outside'), join(base, 'work/folder'));
    const target = open(movingAfterOpen('work/folder', 'work/elsewhere'), 'folder/file');
    assert.deepEqual(inner.locate(target.dirFd), ['elsewhere']);
    target.close();
  });
}
