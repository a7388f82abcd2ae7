/**
 * Places where a call can wait, and what must hold at each: the call is answered when its time is up and when it is
 * cancelled, and nothing is left behind: no process, no lock, no intent without its result.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { ToolResponse } from '@tool-runtime/protocol';
import type { StageName } from '../src/call/state/call-time.ts';
import type { Runtime, RuntimeOptions } from '../src/runtime.ts';
import type { RuntimeParts } from '../src/session/compile-session.ts';
import type { CallOptions, Session } from '../src/session/session.ts';

export interface WaitingPlace {
  readonly stage: StageName;
  readonly name: string;
  /** The code of the answer at the deadline; by default E_TIMEOUT. */
  readonly code?: string;
  /** What the answer says it waited for; by default the stage. */
  readonly waitedFor?: string;
  /** Enough on an idle machine to get there; doubled until it is. */
  readonly limitMs?: number;
  open(t: TestContext): Promise<Stuck>;
}

export type Call = readonly [tool: string, args: object, options?: CallOptions];

export interface Stuck {
  readonly runtime: Runtime;
  readonly session: Session;
  /** Where a read must be answered meanwhile; by default the same session. */
  readonly reader?: Session;
  readonly victim: Call;
  /** Resolves when the call waits at the place. */
  readonly reached: Promise<unknown>;
  /** Must succeed afterwards. */
  readonly following: Call;
  /** A word of the command line of processes that must be gone afterwards. */
  readonly process?: string;
  /** Releases what was held; also for calls that come later. */
  release(): void;
  dispose(): Promise<unknown>;
}

export const VICTIM = 'file_write';
export const WRITE: Call = [VICTIM, { path: 'a.txt', content: 'new' }];

/** Holds up every caller, until it is released. */
export class Stall {
  readonly #reached = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();
  #isOpen = false;
  readonly reached = this.#reached.promise;

  async pass(): Promise<void> {
    if (this.#isOpen) return;
    this.#reached.resolve();
    await this.#released.promise;
  }

  release(): void {
    this.#isOpen = true;
    this.#released.resolve();
  }
}

export const wrapped = (wrap: (parts: RuntimeParts) => Partial<RuntimeParts>): Pick<RuntimeOptions, 'ports'> => ({
  ports: { wrapParts: (parts) => ({ ...parts, ...wrap(parts) }) },
});

/** Sleeps of no other process on this machine. */
let sleeps = 0;
export const uniqueSleep = (): string => `${100_000_000 + process.pid * 100 + ++sleeps}`;

/** Whether a process with this word runs. */
export function isRunning(word: string): boolean {
  return readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(word);
    } catch {
      return false; // It has just ended.
    }
  });
}

/** Polls only while something else goes on: a call that never gets there must not keep the test running. */
export async function seen(word: string): Promise<void> {
  while (!isRunning(word)) await pause(20, undefined, { ref: false });
}

export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await pause(20);
}

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
    const reading = await (stuck.reader ?? stuck.session).call('fs_list', { glob: '.' });
    assert.ok(reading.ok, JSON.stringify(reading.errors));
    cancel.abort();
    await answer;
    await checkAftermath(stuck);
  } finally {
    stuck.release();
    await stuck.dispose();
  }
}

/** Each place twice: nothing in it ends by itself. */
export function drivePlaces(places: readonly WaitingPlace[]): void {
  describe('a call ends by its deadline', { concurrency: 4 }, () => {
    for (const place of places) {
      test(`${place.stage}: ${place.name}`, async (t) => {
        const { ok, errors } = await atDeadline(t, place, place.limitMs ?? 300);
        if (place.stage === 'cleanUp') return assert.ok(ok, JSON.stringify(errors));
        assert.equal(errors[0]?.code, place.code ?? 'E_TIMEOUT', JSON.stringify(errors));
        if (place.code !== undefined) return;
        assert.equal(errors[0]?.details?.['waited_for'], place.waitedFor ?? place.stage);
      });
    }
  });

  describe('a call that is cancelled ends, and does not hold up others before', { concurrency: 4 }, () => {
    for (const place of places) test(`${place.stage}: ${place.name}`, (t) => whenCancelled(t, place));
  });
}
