/**
 * An attacker swaps an allowed folder for a link to a forbidden one while calls go through it. Both are inside the
 * workspace, so only the path rules stand between them.
 *
 * Judging the path first and using it afterwards is played too and must lose, which proves that the attack is real here.
 * `PATH_RACE_ROUNDS` sets how often each operation is tried; as root the same race is run once more by an ordinary user.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ACTIONS, type Backend, openArena, playRace } from './path-rule-arena.ts';

const ROUNDS = Number(process.env['PATH_RACE_ROUNDS'] ?? 250);
const NAIVE_ROUNDS = 200_000;
const NOBODY = 65534;
const CHILD = new URL('./path-rule-race-child.ts', import.meta.url).pathname;

async function arena(t: TestContext, backend: Backend) {
  const base = mkdtempSync(join(tmpdir(), 'rule-race-'));
  const opened = await openArena(base, backend);
  t.after(async () => {
    await opened.close();
    rmSync(base, { recursive: true, force: true });
  });
  return opened;
}

test('judging a path and using it afterwards loses the race', async (t) => {
  const { naive, touched } = await arena(t, 'openat2');
  let round = 0;
  for (; round < NAIVE_ROUNDS && touched().length === 0; round++) naive(round);
  t.diagnostic(`lost after ${round} rounds`);
  assert.notDeepEqual(touched(), []);
});

for (const backend of ['openat2', 'walk'] as const) {
  for (const action of Object.keys(ACTIONS)) {
    test(`${backend}: ${action} never reaches the forbidden folder while links are swapped`, async (t) => {
      const { ruled, touched } = await arena(t, backend);
      const answers = await playRace(ruled, action, ROUNDS);
      t.diagnostic(JSON.stringify(answers));
      assert.deepEqual(touched(), []);
      assert.deepEqual(answers['secret'] ?? 0, 0);
      // Both sides of the swap were met, so the race was on.
      assert.ok((answers['allowed'] ?? 0) > 0 && (answers['E_POLICY'] ?? 0) > 0);
    });
  }
}

test('an ordinary user loses the race as well (deep)', (t) => {
  const base = mkdtempSync(join(tmpdir(), 'rule-race-user-'));
  mkdirSync(join(base, 'home'));
  chmodSync(base, 0o777);
  t.after(() => rmSync(base, { recursive: true, force: true }));
  const words = ['-C', 'tool-runtime-source', CHILD, base, String(NOBODY), String(ROUNDS)];
  const report = JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' }));
  t.diagnostic(JSON.stringify(report));
  assert.notEqual(report.uid, 0);
  assert.deepEqual(report.touched, []);
  assert.ok(report.allowed > 0 && report.refused > 0 && report.secret === 0);
});
