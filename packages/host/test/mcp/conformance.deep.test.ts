import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { problemsOf } from './conformance/run-suite.ts';
import { journalProblems, runServerSets } from './conformance/server-sets.ts';

test('the official conformance suite finds no scored failure, and every call it made is in the journal', async () => {
  const { results, journal } = await runServerSets();
  assert.deepEqual(results.flatMap(problemsOf), []);
  assert.deepEqual(journalProblems(journal), []);
  assert.deepEqual(
    results.map(({ name, scenarios }) => [name, scenarios.filter(({ isScored }) => isScored).length]),
    [
      ['server 2025-11-25', 30],
      ['server 2026-07-28', 37],
      ['server, suite 0.1.16', 30],
      ['server, unscored json-schema-2020-12 2025-11-25', 1],
      ['server, unscored json-schema-2020-12 2026-07-28', 1],
      ['server, unscored server-sse-polling 2025-11-25', 1],
      ['server, unscored http-custom-header-server-validation 2026-07-28', 1],
      ...results.slice(7).map(({ name }) => [name, 1]),
    ],
  );
  assert.equal(results.filter(({ name }) => name.startsWith('server, unscored tasks-')).length, 9);
  const warned = results.flatMap(({ scenarios }) =>
    scenarios.flatMap(({ isScored, warnings }) => (isScored ? warnings : [])),
  );
  assert.deepEqual(warned, []);
});

test('a client that hangs and a set that hangs are reported as timed out', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'));
  t.after(() => rm(folder, { recursive: true }));
  const env = { ...process.env, CONFORMANCE_FOLDER: folder, CONFORMANCE_CLIENT_SECONDS: '1' };
  const inTurn = fileURLToPath(import.meta.resolve('./conformance/run-client.sh'));
  const run = (scenario: string, ...command: string[]) =>
    spawnSync(inTurn, command, { env: { ...env, MCP_CONFORMANCE_SCENARIO: scenario } }).status;
  assert.deepEqual([run('fine', 'true'), run('failing', 'false'), run('hanging', 'sleep', '3600')], [0, 1, 124]);
  const timedOut = (await readFile(join(folder, 'timed-out'), 'utf8')).trim().split('\n');
  const scenarios = ['fine', 'hanging'].map((name) => ({
    name,
    isScored: true,
    passed: 1,
    failures: [],
    warnings: [],
  }));
  const result = { name: 'client', exitCode: 1, timedOut, scenarios, output: '' };
  assert.deepEqual(problemsOf(result), ['client: hanging: timed out']);
  assert.match(problemsOf({ ...result, exitCode: null }).join(), /^client: timed out after \d+ s$/);
});
