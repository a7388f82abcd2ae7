/**
 * The suite against toy servers: the correct one passes everything, and each broken one is found by its own case alone.
 *
 * Every broken toy is tried with the cases of its family. The nightly run tries it with all others too (`ALL_CASES=1`), which
 * takes ten times as long.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Case } from '../src/cases/case.ts';
import { CASES, runSuite, type SuiteResult } from '../src/run-suite.ts';
import type { Protocol } from '../src/server/server.ts';
import { FAULTS } from './toy/faults.ts';
import { buildToy, toyTarget } from './toy/toy-target.ts';

/** The toys are slow where it counts, so that few tries are enough. */
const EFFORT = { attempts: 40, kills: 4 };

const folder = mkdtempSync(path.join(tmpdir(), 'conformance-toys-'));
let file = '';
before(async () => {
  file = await buildToy(folder);
});
after(() => rmSync(folder, { recursive: true, force: true }));

const tryToy = (protocol: Protocol, fault?: string): Promise<SuiteResult> =>
  runSuite(toyTarget({ file, protocol, ...(fault === undefined ? {} : { fault }) }), {
    effort: EFFORT,
    cases: fault === undefined || process.env['ALL_CASES'] === '1' ? CASES : familyOf(fault),
  });

/** The cases of one kind, and those that they go further than. */
function familyOf(fault: string): readonly Case[] {
  const family = CASES.filter(({ id }) => id.split('.')[0] === fault.split('.')[0]);
  const before = new Set(family.flatMap(({ after = [] }) => after));
  return CASES.filter((one) => family.includes(one) || before.has(one.id));
}

function withOutcome({ results }: SuiteResult, wanted: string): string[] {
  return results.filter(({ outcome }) => outcome === wanted).map(({ id, detail }) => `${id}: ${detail}`);
}

describe('the suite against toy servers', () => {
  for (const protocol of ['mcp', 'envelopes'] as const) {
    test(`passes every case against the correct one over ${protocol}`, async () => {
      const result = await tryToy(protocol);
      assert.deepEqual(withOutcome(result, 'failed'), []);
      assert.deepEqual(withOutcome(result, 'not applicable'), []);
      assert.equal(result.passed, CASES.length);
    });
  }

  test('has a broken toy for every case', () => {
    assert.deepEqual(Object.keys(FAULTS).sort(), CASES.map(({ id }) => id).sort());
  });

  describe('finds each fault by its case and by no other', { concurrency: 3 }, () => {
    for (const fault of Object.keys(FAULTS)) {
      test(fault, async () => {
        const failed = withOutcome(await tryToy('mcp', fault), 'failed');
        assert.equal(failed.length, 1, failed.join('\n'));
        assert.ok(failed[0]?.startsWith(`${fault}: `), failed[0]);
        assert.ok(!failed[0]?.includes('its twin'), failed[0]);
      });
    }
  });
});
