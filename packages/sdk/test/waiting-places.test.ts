/**
 * Drives every place where a call can wait, twice: the call is answered when its time is up, and when it is cancelled,
 * whatever it waits for. Nothing is left behind: no process, no lock, no intent without its result.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { ToolResponse } from '@tool-runtime/protocol';
import { STAGES } from '../src/call/call-time.ts';
import type { Runtime } from '../src/runtime.ts';
import { isRunning, type Stuck, until, WAITING_PLACES, type WaitingPlace } from './waiting-places.ts';

const AMPLE_MS = 600_000;
const MOST_MS = 120_000;

function callsWithout(runtime: Runtime, found: 'intent' | 'result'): readonly string[] {
  const ids = (kind: 'intent' | 'result') =>
    [...runtime.records({ kind })].map((record) => ('call_id' in record ? String(record.call_id) : ''));
  const [wanted, other] = [ids(found === 'intent' ? 'result' : 'intent'), ids(found)];
  assert.equal(new Set(wanted).size, wanted.length, 'one record of its kind for each call');
  return wanted.filter((id) => !other.includes(id));
}

/** What must hold once the call has been answered. */
async function checkAftermath({ runtime, session, process, following, release }: Stuck): Promise<void> {
  if (process !== undefined && following[0] !== 'job_stop') await until(() => !isRunning(process));
  release();
  const [tool, args] = following;
  const next = await session.call(tool, args);
  assert.ok(next.ok, `the next call: ${JSON.stringify(next.errors)}`);
  await until(() => callsWithout(runtime, 'result').length === 0);
  assert.deepEqual(callsWithout(runtime, 'intent'), []);
  if (process !== undefined) await until(() => !isRunning(process));
  assert.equal(runtime.verify().ok, true);
}

async function atDeadline(t: TestContext, place: WaitingPlace, limitMs: number): Promise<ToolResponse> {
  const stuck = await place.open(t);
  try {
    const [tool, args, options] = stuck.victim;
    const answer = stuck.session.call(tool, args, { ...options, timeoutMs: limitMs });
    const first = await Promise.race([stuck.reached.then(() => 'reached'), answer.then(() => 'answered')]);
    const response = await answer;
    if (first === 'reached') {
      await checkAftermath(stuck);
      return response;
    }
  } finally {
    stuck.release();
    await stuck.dispose();
  }
  // A busy machine did not get there in time.
  assert.ok(limitMs < MOST_MS, 'the place was never reached');
  return atDeadline(t, place, limitMs * 2);
}

async function whenCancelled(t: TestContext, place: WaitingPlace): Promise<void> {
  const stuck = await place.open(t);
  try {
    const [tool, args, options] = stuck.victim;
    const cancel = new AbortController();
    const answer = stuck.session.call(tool, args, { ...options, timeoutMs: AMPLE_MS, signal: cancel.signal });
    const early = answer.then(({ errors }) => assert.fail(`it did not wait: ${JSON.stringify(errors)}`));
    await Promise.race([stuck.reached, early]);
    early.catch(() => {});
    // Answered while the call still waits, or this test never ends.
    const reading = await (stuck.reader ?? stuck.session).call('fs_list', { path: '.' });
    assert.ok(reading.ok, JSON.stringify(reading.errors));
    cancel.abort();
    await answer;
    await checkAftermath(stuck);
  } finally {
    stuck.release();
    await stuck.dispose();
  }
}

describe('a call ends by its deadline', { concurrency: 4 }, () => {
  for (const place of WAITING_PLACES) {
    test(`${place.stage}: ${place.name}`, async (t) => {
      const { ok, errors } = await atDeadline(t, place, place.limitMs ?? 300);
      if (place.stage === 'cleanUp') return assert.ok(ok, JSON.stringify(errors));
      assert.equal(errors[0]?.code, place.code ?? 'E_TIMEOUT', JSON.stringify(errors));
      const waitedFor = errors[0]?.details?.['waited_for'];
      if (place.code === undefined) assert.ok(waitedFor === place.stage || waitedFor === 'commands', String(waitedFor));
    });
  }
});

describe('a call that is cancelled ends, and does not hold up others before', { concurrency: 4 }, () => {
  for (const place of WAITING_PLACES) test(`${place.stage}: ${place.name}`, (t) => whenCancelled(t, place));
});

test('every stage that waits has a place above', () => {
  const driven = new Set(WAITING_PLACES.map(({ stage }) => stage));
  assert.deepEqual(
    Object.keys(STAGES).filter((stage) => !driven.has(stage as keyof typeof STAGES)),
    [],
  );
});

/** The stages that wait themselves instead of being waited for as a whole. */
const WAIT_THEMSELVES = /^(?:execute-tool|take-back|finish-call|record-(?:result|refusal|replay))\.ts$/;

test('the conductor and its stages wait in no other way', () => {
  const folder = join(import.meta.dirname, '../src/call');
  const own = readdirSync(folder).filter((name) => WAIT_THEMSELVES.test(name));
  assert.equal(own.length, 6);
  const sourceOf = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const namesIn = (text: string) =>
    [...text.matchAll(/^(?:export )?(?:async )?function (\w+)/gm)].map(([, found]) => found);
  const known = new Set(['normalizeArgs', ...[...own, 'pipeline.ts'].map(sourceOf).flatMap(namesIn)]);
  for (const name of ['pipeline.ts', ...own]) {
    const source = sourceOf(name);
    // Private functions of a stage are waited for by its exported one.
    const bodies =
      name === 'pipeline.ts' ? [source] : [...source.matchAll(/^export async function (?:.|\n)*?^}/gm)].map(String);
    for (const [, awaited = ''] of bodies.flatMap((body) => [...body.matchAll(/await ((?:.|\n)*?);/g)])) {
      for (const text of awaited.split(/\bawait /)) {
        const inner = text.replace(/^settle\(\(\) =>\s*/, '').trimStart();
        const isBounded = known.has(/^\w+/.exec(inner)?.[0]) || /^(?:(?:call\.)?open\.)?time\.wait\(/.test(inner);
        assert.ok(isBounded, `${name}: await ${text}`);
      }
    }
  }
});
