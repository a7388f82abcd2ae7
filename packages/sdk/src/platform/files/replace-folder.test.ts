/** A name that no longer means what was checked: nothing may be lost, and everything is as it was. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { RelativePath } from '../descriptors/path-rules.ts';
import { identityOf, openRoot } from '../descriptors/root.ts';
import { setAside } from './remove-tree.ts';
import { replaceFolder } from './replace-folder.ts';

const BACKENDS = ['openat2', 'walk'] as const;

function scene(t: TestContext, backend: (typeof BACKENDS)[number]) {
  const base = mkdtempSync(join(tmpdir(), 'replace-folder-'));
  for (const name of ['new', 'old']) {
    mkdirSync(join(base, name));
    writeFileSync(join(base, name, name), '');
  }
  const root = openRoot(base, { backend });
  const [from, to] = [root.openParent('new' as RelativePath), root.openParent('old' as RelativePath)];
  t.after(() => {
    from.close();
    to.close();
    root.close();
    rmSync(base, { recursive: true, force: true });
  });
  const listed = () => readdirSync(base).map((name) => [name, ...readdirSync(join(base, name))]);
  return {
    root,
    from,
    to,
    listed,
    identity: (name: string) => identityOf(statSync(join(base, name), { bigint: true })),
  };
}

for (const backend of BACKENDS) {
  test(`on ${backend} a folder is replaced only while it is the one that was judged [S0-27 S0-28]`, (t) => {
    const { root, from, to, listed, identity } = scene(t, backend);
    const judged = identity('old');
    assert.throws(() => replaceFolder({ root, from, to, replaced: '0:0' }), { code: 'EAGAIN' });
    assert.deepEqual(listed(), [
      ['new', 'new'],
      ['old', 'old'],
    ]);
    const aside = replaceFolder({ root, from, to, replaced: judged });
    assert.deepEqual(listed(), [
      [aside.name, 'old'],
      ['old', 'new'],
    ]);
  });

  test(`on ${backend} a folder is set aside only while it is the one that was judged [S0-29]`, (t) => {
    const { root, to, listed, identity } = scene(t, backend);
    assert.throws(() => setAside(root, to, identity('new')), { code: 'EAGAIN' });
    assert.deepEqual(listed(), [
      ['new', 'new'],
      ['old', 'old'],
    ]);
    const aside = setAside(root, to, identity('old'));
    assert.deepEqual(listed(), [
      [aside.name, 'old'],
      ['new', 'new'],
    ]);
  });
}
