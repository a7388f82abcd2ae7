import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ownerTag } from '../processes/process-identity.ts';
import { makeOverlayFolder, makeOverlaysFolder, sweepOverlays } from './overlay-folders.ts';

test('overlays of a dead process are removed, whatever modes a command set; those of a live one stay', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'overlays-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const state = join(root, 'state');
  mkdirSync(state, { mode: 0o700 });
  assert.equal(await sweepOverlays(state), 0);
  const own = makeOverlaysFolder(state);
  makeOverlayFolder(own, '1', 0o755);
  const tag = ownerTag() ?? '';
  // The same process number with another start time: that process is gone.
  const dead = join(state, 'overlays', `${tag.replace(/^(\d+)-\d+/, '$1-1')}_x`);
  mkdirSync(join(dead, '1/upper/closed'), { recursive: true });
  writeFileSync(join(dead, '1/upper/closed/file'), '');
  chmodSync(join(dead, '1/upper/closed'), 0);
  assert.equal(await sweepOverlays(state), 1);
  assert.deepEqual([existsSync(dead), existsSync(join(own, '1/merged'))], [false, true]);
});
