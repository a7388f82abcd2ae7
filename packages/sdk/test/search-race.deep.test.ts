/**
 * An attacker swaps a folder for a link to outside while the tree is searched and listed.
 *
 * Ripgrep alone is run first and must lose, which proves that the attack is real on this machine.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { rgPath } from '@vscode/ripgrep';
import { openRoot, type Root } from '../src/platform/descriptors/root.ts';
import { createFileTree } from '../src/platform/search/file-tree.ts';
import { startAttacker } from './swapping-attacker.ts';

const FOLDERS = 40;
const MAX_NAIVE_ROUNDS = 2000;
const ROUNDS = 100;

/** The same names inside and outside; only the outside has `outside-only`. */
async function arena(t: TestContext): Promise<string> {
  const base = mkdtempSync(join(tmpdir(), 'search-race-'));
  const [inside, outside] = [join(base, 'inside'), join(base, 'outside')];
  for (let at = 0; at < FOLDERS; at++) {
    mkdirSync(join(inside, `folder/deep-${at}`), { recursive: true });
    mkdirSync(join(outside, `deep-${at}`), { recursive: true });
    writeFileSync(join(inside, `folder/deep-${at}/file`), 'needle inside\n');
    writeFileSync(join(outside, `deep-${at}/file`), 'needle secret\n');
    writeFileSync(join(outside, `deep-${at}/outside-only`), 'needle secret\n');
  }
  symlinkSync('../outside', join(inside, 'trap'));
  const stopAttacker = await startAttacker(inside);
  t.after(async () => {
    await stopAttacker();
    rmSync(base, { recursive: true, force: true });
  });
  return inside;
}

test('ripgrep alone is led outside by a folder that is swapped under it [S0-33]', async (t) => {
  const inside = await arena(t);
  let leaked = false;
  for (let round = 0; round < MAX_NAIVE_ROUNDS && !leaked; round++) {
    const { stdout } = spawnSync(rgPath, ['--no-config', '-e', 'needle', '--', './'], { cwd: inside });
    leaked = stdout.includes('secret');
  }
  assert.ok(leaked);
});

for (const confinement of ['auto', 'off'] as const) {
  const way = confinement === 'auto' ? 'behind a wall' : 'confirming every line';
  test(`a search ${way} never shows a line from outside [S0-33]`, async (t) => {
    const root = openRoot(await arena(t));
    t.after(() => root.close());
    const tree = createFileTree(root, { confinement });
    let found = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const report = (['lines', 'files', 'counts'] as const)[round % 3] ?? 'lines';
      const { matches, counts } = await tree.search({
        pattern: 'needle',
        fixed: false,
        caseSensitive: false,
        word: false,
        multiline: false,
        globs: round % 2 === 0 ? [] : ['folder/**'],
        includeHidden: true,
        includeIgnored: true,
        context: 1,
        report,
        maxResults: 1000,
        maxLineLength: 100,
      });
      found += matches.length + counts.length;
      for (const { file, text } of matches)
        assert.ok(text === 'needle inside' && !file.includes('outside'), `${file}: ${text}`);
      for (const { file } of counts) assert.ok(!file.includes('outside'), file);
    }
    assert.notEqual(found, 0, 'what is inside is found');
  });
}

for (const backend of ['openat2', 'walk'] as const) {
  test(`a listing on ${backend} never shows a name from outside [S0-26]`, async (t) => {
    const root = openRoot(await arena(t), { backend });
    t.after(() => root.close());
    const tree = createFileTree(root);
    let found = 0;
    for (let round = 0; round < ROUNDS * 4; round++) {
      const { paths } = await tree.list({ globs: [], includeHidden: true, includeIgnored: true, maxResults: 1000 });
      found += paths.length;
      assert.deepEqual(
        paths.filter((path) => path.includes('outside-only')),
        [],
      );
    }
    assert.notEqual(found, 0, 'what is inside is found');
  });
}

test('a search of a folder that is itself swapped for a link stays in the folder that was opened [S0-33 S0-39]', async (t) => {
  const inside = await arena(t);
  const root = openOwn(join(inside, 'folder'));
  t.after(() => root.close());
  const tree = createFileTree(root);
  let found = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { matches } = await tree.search({
      ...{ pattern: 'needle', fixed: false, caseSensitive: false, word: false, multiline: false, globs: [] },
      ...{ includeHidden: true, includeIgnored: true, context: 0, maxResults: 1000, maxLineLength: 100 },
    });
    found += matches.length;
    for (const { file, text } of matches) assert.equal(text, 'needle inside', file);
  }
  assert.notEqual(found, 0, 'what is inside is found');
});

/** At some moment the name leads to the folder, and not to the link it is swapped with. */
function openOwn(path: string): Root {
  for (;;) {
    const root = openRoot(path);
    if (!root.path.endsWith('/outside')) return root;
    root.close();
  }
}
