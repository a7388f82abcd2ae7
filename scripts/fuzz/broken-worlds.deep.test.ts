import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { BROKEN_WORLDS } from './broken-worlds.ts';
import { runTarget } from './run-target.ts';
import { FUZZ_TARGETS } from './targets/catalog.ts';

// That the right world passes the same inputs, targets/catalog.test.ts shows: they are seeds.
for (const [target, { seed, wrong, finds }] of Object.entries(BROKEN_WORLDS)) {
  test(`${target} notices when ${wrong}`, async (t) => {
    const crashFolder = mkdtempSync(join(tmpdir(), 'fuzz-crashes-'));
    t.after(() => rmSync(crashFolder, { recursive: true }));
    const seedFolder = join(import.meta.dirname, 'seeds', target);
    const { findings } = await runTarget({
      catalog: new URL('./broken-worlds.ts', import.meta.url).href,
      target,
      seedFolder,
      crashFolder,
      seed: 42,
      cases: 1,
      seconds: 100,
      judgesTime: false,
      limitMs: 30_000,
      only: readFileSync(join(seedFolder, seed)),
    });
    assert.deepEqual(
      findings.map(({ kind }) => kind),
      ['broken'],
    );
    assert.match(findings[0]?.message ?? '', finds);
  });
}

test('every target is shown a broken world', () => {
  assert.deepEqual(Object.keys(BROKEN_WORLDS), Object.keys(FUZZ_TARGETS));
});
