import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runTarget, type TargetReport, type TargetRun } from './run-target.ts';

const SEED = 'hay hay hay needle hay hay hay';

function runFaulty(t: TestContext, target: string, more: Partial<TargetRun> = {}): Promise<TargetReport> {
  const folder = mkdtempSync(join(tmpdir(), 'fuzz-run-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const seedFolder = join(folder, 'seeds');
  mkdirSync(seedFolder);
  writeFileSync(join(seedFolder, 'seed'), SEED);
  return runTarget({
    catalog: new URL('./fixtures/faulty-targets.ts', import.meta.url).href,
    target,
    seedFolder,
    crashFolder: join(folder, 'crashes'),
    seed: 7,
    cases: 50,
    seconds: 60,
    judgesTime: false,
    limitMs: 1_000,
    ...more,
  });
}

test('a run of the same seed tries the same inputs', async (t) => {
  const runs = [await runFaulty(t, 'good', { cases: 400 }), await runFaulty(t, 'good', { cases: 400 })];
  assert.deepEqual(runs[0]?.outcomes, runs[1]?.outcomes);
  assert.deepEqual([runs[0]?.cases, runs[0]?.findings], [400, []]);
  assert.ok((runs[0]?.outcomes['found'] ?? 0) > 1 && (runs[0]?.outcomes['other'] ?? 0) > 1);
});

test('what is thrown is one finding, made as small as it goes, and the run goes on', async (t) => {
  const { cases, findings } = await runFaulty(t, 'broken');
  assert.equal(cases, 50);
  const [finding, ...more] = findings;
  assert.ok(finding !== undefined && more.length === 0);
  assert.equal(finding.kind, 'broken');
  assert.match(finding.message, /There is a needle/);
  assert.equal(readFileSync(finding.file, 'latin1'), 'needle');
});

for (const target of ['hanging', 'waiting']) {
  test(`a case that is ${target} is ended from outside and kept`, async (t) => {
    const { findings } = await runFaulty(t, target, { cases: 1, limitMs: 200 });
    assert.deepEqual(
      findings.map(({ kind }) => kind),
      ['hang'],
    );
    assert.match(readFileSync(findings[0]?.file ?? '', 'latin1'), /needle/);
  });
}

for (const target of ['rejecting', 'exiting']) {
  test(`a case that fails by ${target} takes its thread with it and is kept`, async (t) => {
    const { findings } = await runFaulty(t, target, { cases: 1 });
    assert.deepEqual(
      findings.map(({ kind }) => kind),
      ['crash'],
    );
  });
}

test('a kept input can be run again by itself', async (t) => {
  const { cases, findings } = await runFaulty(t, 'broken', { only: Buffer.from('a needle') });
  assert.equal(cases, 1);
  assert.deepEqual(
    findings.map(({ input }) => Buffer.from(input).toString()),
    ['a needle'],
  );
  const fine = await runFaulty(t, 'broken', { only: Buffer.from('hay') });
  assert.deepEqual([fine.cases, fine.findings], [1, []]);
});
