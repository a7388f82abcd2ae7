import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import type { LentFolder, SandboxRequest } from '../../contracts/commands.ts';
import { openRoot } from '../descriptors/root.ts';
import { holdMounts } from './hold-mounts.ts';

function open(t: TestContext) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'hold-')));
  for (const name of ['workspace', 'lent/folder', 'other']) mkdirSync(join(base, name), { recursive: true });
  const root = openRoot(join(base, 'workspace'));
  t.after(() => {
    root.close();
    rmSync(base, { recursive: true, force: true });
  });
  /** Where things will be shown, or why not. */
  const places = (...folders: readonly LentFolder[]): string => {
    const request: SandboxRequest = { workspace: root, writable: true, proxySocket: null, protectedPaths: [], folders };
    try {
      const { mounts, leave } = holdMounts(request, { sources: [], hidden: [] });
      leave();
      return mounts.map(({ at }) => at.slice(base.length + 1)).join(' ');
    } catch (thrown) {
      if (!isToolError(thrown)) throw thrown;
      return String(thrown.details?.['reason']);
    }
  };
  return { base, places, lent: { path: join(base, 'lent/folder'), writable: true } };
}

test('a lent folder is never reached through a link [S0-36 S0-39]', (t) => {
  const { base, places, lent } = open(t);
  assert.equal(places(lent), 'workspace lent/folder');
  renameSync(lent.path, `${lent.path}-aside`);
  symlinkSync(join(base, 'other'), lent.path);
  assert.equal(places(lent), 'mount_changed');
  rmSync(lent.path);
  renameSync(`${lent.path}-aside`, lent.path);
  renameSync(join(base, 'lent'), join(base, 'aside'));
  symlinkSync('aside', join(base, 'lent'));
  assert.equal(places(lent), 'mount_changed');
});

test('a lent folder is the one that was judged [S0-36 S0-39]', (t) => {
  const { base, places, lent } = open(t);
  const other = openRoot(join(base, 'other'));
  const own = openRoot(lent.path);
  t.after(() => {
    other.close();
    own.close();
  });
  assert.equal(places({ ...lent, identity: own.identity }), 'workspace lent/folder');
  assert.equal(places({ ...lent, identity: other.identity }), 'mount_changed');
});

test('a workspace that was moved is not shown, whatever stands in its place [S0-36 S0-39]', (t) => {
  const { base, places } = open(t);
  renameSync(join(base, 'workspace'), join(base, 'moved'));
  assert.equal(places(), 'workspace_moved');
  mkdirSync(join(base, 'workspace'));
  assert.equal(places(), 'workspace_moved');
  rmSync(join(base, 'workspace'), { recursive: true });
  renameSync(join(base, 'moved'), join(base, 'workspace'));
  assert.equal(places(), 'workspace');
});

test('nothing stays open, whether it could be held or not [S0-36]', (t) => {
  const { places, lent } = open(t);
  const before = readdirSync('/proc/self/fd').length;
  places(lent);
  places(lent, { ...lent, path: `${lent.path}-missing` });
  places({ ...lent, identity: '0:0' });
  assert.equal(readdirSync('/proc/self/fd').length, before);
});
