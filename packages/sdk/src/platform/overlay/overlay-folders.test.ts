import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createRedoLog } from '../commit/redo-log.ts';
import { OWN_TAG } from '../processes/process-identity.ts';
import { makeOverlayFolder, makeOverlaysFolder, sweepOverlays } from './overlay-folders.ts';

test('overlays of a dead process are removed, whatever modes a command set; those of a live one stay', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'overlays-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const state = join(root, 'state');
  mkdirSync(state, { mode: 0o700 });
  assert.equal(await sweepOverlays(state), 0);
  const own = makeOverlaysFolder(state);
  makeOverlayFolder(own, '1', 0o755);
  const tag = OWN_TAG ?? '';
  // The same process number with another start time: that process is gone.
  const dead = join(state, 'overlays', `${tag.replace(/^(\d+)-\d+/, '$1-1')}_x`);
  mkdirSync(join(dead, '1/upper/closed'), { recursive: true });
  writeFileSync(join(dead, '1/upper/closed/file'), '');
  chmodSync(join(dead, '1/upper/closed'), 0);
  assert.equal(await sweepOverlays(state), 1);
  assert.deepEqual([existsSync(dead), existsSync(join(own, '1/merged'))], [false, true]);
});

test('overlays stay until the commit that takes its content from them is finished', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'overlays-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const [state, workspace] = [join(root, 'state'), join(root, 'workspace')];
  for (const folder of [state, workspace]) mkdirSync(folder, { mode: 0o700 });
  const dead = (OWN_TAG ?? '').replace(/^(\d+)-\d+/, '$1-1');
  const upper = join(state, 'overlays', `${dead}_x`, '1/upper');
  mkdirSync(upper, { recursive: true });
  writeFileSync(join(upper, 'new.txt'), 'written by a command');
  const digest = createHash('sha256').update('written by a command').digest('hex');
  const change = { root: workspace, path: 'new.txt', before: { kind: 'absent' }, file: join(upper, 'new.txt') };
  const record = [{ ...change, after: { kind: 'file', digest, size: 20, mode: 0o644 } }];
  mkdirSync(join(state, 'commits'), { mode: 0o700 });
  writeFileSync(join(state, 'commits', `${dead}_${dead}_x`), `${JSON.stringify(record)}\n`, { mode: 0o600 });
  assert.equal(await sweepOverlays(state), 0);
  await createRedoLog(state).workOff();
  assert.equal(readFileSync(join(workspace, 'new.txt'), 'utf8'), 'written by a command');
  assert.equal(await sweepOverlays(state), 1);
});
