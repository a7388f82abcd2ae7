/**
 * The ledger of effects on the journal of the fleet: one subject per call, and its messages are the call's states.
 *
 * `intent` claims it, `result` ends it with its answer, `released` says that nothing happened. Each is appended only behind the
 * message its writer knows, so the claim, the record and the fence are one write. A call is lost when its workspace has a
 * holder with a newer token, or when the process that began it no longer works on it.
 */
import type { StoredMsg } from '@nats-io/jetstream';
import { isToolError, type JsonObject, type JsonValue, ToolError } from '@tool-runtime/protocol';
import type { EffectClaim, EffectIntent, EffectLedger, EffectName, EffectState, Rehearsal } from '@tool-runtime/sdk';
import { compareAndAppend, readLast, unavailable } from '../wire/compare-and-append.ts';
import { callSubject, digest, STREAMS } from '../wire/names.ts';
import type { Wire } from '../wire/open-wire.ts';
import { sleep } from '../wire/sleep.ts';
import type { Payloads } from './payloads.ts';
import type { WorkspaceLease } from './workspace-lease.ts';
import { fenced } from './workspace-lease.ts';

export interface CallMessage {
  readonly state: 'intent' | 'result' | 'released' | 'parked';
  readonly call_id: string;
  readonly session_id: string;
  readonly host: string;
  readonly boot: string;
  /** Of the lease under which it was begun. */
  readonly token: number;
  readonly tool: string;
  readonly scope: string;
  readonly key: string;
  readonly args_digest: string;
  readonly retry_safe: boolean;
  readonly at_ms: number;
  /** Set in a result: JSON in place, or where it is kept when it is large. */
  readonly answer?: JsonObject;
  readonly answer_at?: string;
  readonly rehearsal?: Rehearsal;
  /** The position of the call it took over. */
  readonly over?: number;
  /** How many hosts have begun it, this one included. */
  readonly attempts?: number;
}

export interface LedgerOptions {
  readonly wire: Wire;
  readonly workspace: string;
  readonly host: string;
  readonly boot: string;
  readonly lease: Pick<WorkspaceLease, 'token'>;
  readonly payloads: Payloads;
  now(): number;
}

/** How long one answer of the fleet is waited for; the call's own deadline is usually shorter. */
const ANSWER_MS = 30_000;
/** A result that the fleet has not taken by then is told at the next start of the host. */
const FINISH_MS = 300_000;
/** A call that so many hosts have begun and not ended is not begun again. */
const MAX_ATTEMPTS = 3;
/** What a message may hold in place. */
const INLINE_BYTES = 256 * 1024;

export function createFleetLedger(options: LedgerOptions): EffectLedger {
  const { wire, workspace, lease, boot } = options;
  /** Calls that this process still works on, by subject and call. */
  const working = new Set<string>();
  const workOf = (subject: string, callId: string): string => `${subject} ${callId}`;
  const subjectOf = ({ scope, key }: EffectName): string => callSubject(wire.tenant, workspace, scope, key);

  async function stateOf(message: StoredMsg | undefined, name: EffectName): Promise<EffectState> {
    if (message === undefined) return { state: 'new' };
    const found = message.json<CallMessage>();
    const { call_id: callId } = found;
    if (found.state === 'released') return { state: 'new' };
    if (found.state === 'parked') throw parked(callId, found.attempts ?? MAX_ATTEMPTS);
    if (found.args_digest !== argsDigest(name)) return { state: 'conflict', callId };
    if (found.state === 'result') return { state: 'done', callId, answer: await answerOf(found, options) };
    if (!isLost(found, subjectOf(name))) return { state: 'running', callId };
    const { rehearsal } = found;
    return { state: 'lost', callId, at: message.seq, ...(rehearsal === undefined ? {} : { rehearsal }) };
  }

  function isLost(found: CallMessage, subject: string): boolean {
    if (found.boot === boot) return !working.has(workOf(subject, found.call_id));
    const { token } = lease;
    return token !== undefined && token > found.token;
  }

  function checkFence(): void {
    if (lease.token === undefined) throw fenced(workspace);
  }

  return {
    checkFence,
    async lookup(name) {
      const message = await askUntilAnswered(() => readLast(wire, STREAMS.journal, subjectOf(name)));
      return stateOf(message.message, name);
    },
    async begin(intent) {
      const { token } = lease;
      if (token === undefined) throw fenced(workspace);
      const subject = subjectOf(intent);
      const { over } = intent;
      const attempts = over === undefined ? 1 : await attemptsOver(over, subject, wire);
      if (attempts > MAX_ATTEMPTS)
        throw await park(intent, { subject, expected: over ?? 0, token, attempts: attempts - 1 }, options);
      const work = workOf(subject, intent.callId);
      // The call was looked up and is new as a rule, so it is claimed without another look; a refused append tells the rest.
      for (let expected = over ?? 0; ; ) {
        working.add(work);
        try {
          const begun = await compareAndAppend(wire, {
            stream: STREAMS.journal,
            subject,
            body: encode({ ...messageOf(intent, token, options), attempts }),
            expected,
            signal: AbortSignal.timeout(ANSWER_MS),
          });
          if (begun.won) return claimOf(intent, { subject, at: begun.seq, token });
          working.delete(work);
          const state = await stateOf(begun.last, intent);
          if (state.state !== 'new') return state;
          // It was released: nothing happened, and this call begins behind that message.
          expected = begun.last?.seq ?? 0;
        } catch (thrown) {
          working.delete(work);
          throw thrown;
        }
      }
    },
  };

  function claimOf(
    intent: EffectIntent,
    { subject, at, token }: { readonly subject: string; readonly at: number; readonly token: number },
  ): EffectClaim {
    const append = (message: CallMessage, ms: number) =>
      compareAndAppend(wire, {
        stream: STREAMS.journal,
        subject,
        body: JSON.stringify(message),
        expected: at,
        signal: AbortSignal.timeout(ms),
      });
    const work = workOf(subject, intent.callId);
    const { rehearsal: _, ...base } = messageOf(intent, token, options);
    return {
      state: 'claimed',
      async finish(answer) {
        try {
          const kept = await keepAnswer(answer, options);
          return (await append({ ...base, ...kept, state: 'result', at_ms: options.now() }, FINISH_MS)).won;
        } finally {
          working.delete(work);
        }
      },
      async release() {
        await append({ ...base, state: 'released', at_ms: options.now() }, ANSWER_MS).catch(() => undefined);
        working.delete(work);
      },
    };
  }
}

/** How many hosts will have begun a lost call with this one. */
async function attemptsOver(over: number, subject: string, wire: Wire): Promise<number> {
  const { message } = await askUntilAnswered(() => readLast(wire, STREAMS.journal, subject));
  return message?.seq === over ? (message.json<CallMessage>().attempts ?? 1) + 1 : 1;
}

/** Its hosts died of it, one after another: no further one begins it. */
async function park(
  intent: EffectIntent,
  at: { readonly subject: string; readonly expected: number; readonly token: number; readonly attempts: number },
  options: LedgerOptions,
): Promise<ToolError> {
  const { subject, expected, token, attempts } = at;
  const { rehearsal: _, ...message } = messageOf(intent, token, options);
  await compareAndAppend(options.wire, {
    stream: STREAMS.journal,
    subject,
    body: JSON.stringify({ ...message, state: 'parked', attempts } satisfies CallMessage),
    expected,
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  return parked(intent.callId, attempts);
}

function parked(callId: string, attempts: number): ToolError {
  return new ToolError('E_POLICY', `This call is parked: ${attempts} hosts were lost while they worked on it`, {
    details: {
      gate: 'fleet',
      reason: 'parked',
      retry: 'never',
      call_id: callId,
      next: 'find out what it does to a host (tool-runtime fleet calls lists it); send it again under another key',
    },
  });
}

function messageOf(intent: EffectIntent, token: number, { host, boot, now }: LedgerOptions): CallMessage {
  const { scope, key, tool, callId, sessionId, retrySafe, rehearsal, over } = intent;
  return {
    state: 'intent',
    call_id: callId,
    session_id: sessionId,
    host,
    boot,
    token,
    tool,
    scope,
    key,
    args_digest: argsDigest(intent),
    retry_safe: retrySafe,
    at_ms: now(),
    ...(rehearsal === undefined ? {} : { rehearsal }),
    ...(over === undefined ? {} : { over }),
  };
}

/** A rehearsal that is too large is left out: the call then cannot be compared, and its outcome stays unknown. */
function encode(message: CallMessage): string {
  const text = JSON.stringify(message);
  if (text.length <= INLINE_BYTES) return text;
  const { rehearsal: _, ...rest } = message;
  return JSON.stringify(rest);
}

/** With the key in it: hosts can compare arguments, and others cannot guess them. */
function argsDigest({ scope, key, tool, args }: EffectName): string {
  return digest(scope, key, tool, JSON.stringify(sorted(args)));
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

async function keepAnswer(
  answer: JsonObject,
  { payloads }: LedgerOptions,
): Promise<Pick<CallMessage, 'answer' | 'answer_at'>> {
  const text = JSON.stringify(answer);
  return text.length <= INLINE_BYTES ? { answer } : { answer_at: await payloads.put(Buffer.from(text)) };
}

async function answerOf({ answer, answer_at, call_id }: CallMessage, { payloads }: LedgerOptions): Promise<JsonObject> {
  if (answer !== undefined) return answer;
  if (answer_at !== undefined) return JSON.parse((await payloads.get(answer_at)).toString()) as JsonObject;
  throw new ToolError('E_INTERNAL', `The record of this call has no answer: ${call_id}`, {
    details: { reason: 'bad_record', call_id, next: 'run tool-runtime audit verify --fleet' },
  });
}

/** Reading changes nothing, so it is asked again until the leader answers or time is up. */
async function askUntilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  for (;;) {
    try {
      return await ask();
    } catch (thrown) {
      if (isToolError(thrown) || signal.aborted) throw unavailable(STREAMS.journal, thrown);
    }
    await sleep(100, signal);
  }
}
