/**
 * Appends to one subject only where its last message is the one the writer knows.
 *
 * A refused expectation is a question, not an answer: the server may refuse because of an append that is not applied yet,
 * and after a change of leader it may refuse the rightful writer. So the leader's copy is read, and it decides. Every attempt
 * of one append carries the same id with a nonce of its writer, so that a retry cannot append twice and two writers of equal
 * content cannot both believe they won.
 */
import { randomUUID } from 'node:crypto';
import { JetStreamApiError, type StoredMsg } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { ToolError } from '@tool-runtime/protocol';
import { REQUEST_MS, type Wire } from './open-wire.ts';
import { sleep } from './sleep.ts';

const NONCE = 'Trt-Nonce';
const PAUSE_MS = 25;
const MAX_PAUSE_MS = 500;

export interface Append {
  readonly stream: string;
  readonly subject: string;
  readonly body: Uint8Array | string;
  /** Sequence of the last message of the subject; 0 for none. */
  readonly expected: number;
  readonly signal: AbortSignal;
  /** Such as `15s`. */
  readonly ttl?: string;
}

export type Appended =
  | { readonly won: true; readonly seq: number }
  | { readonly won: false; readonly last: StoredMsg | undefined };

/** Rejects with `journal_unavailable` when the signal is aborted before the servers have answered. */
export async function compareAndAppend(wire: Wire, append: Append): Promise<Appended> {
  const { stream, subject, body, expected, signal, ttl } = append;
  const nonce = randomUUID();
  const given = headers();
  given.set(NONCE, nonce);
  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    if (signal.aborted) throw unavailable(stream, signal.reason);
    try {
      const { seq } = await wire.js.publish(subject, body, {
        msgID: nonce,
        headers: given,
        timeout: REQUEST_MS,
        expect: { lastSubjectSequence: expected, streamName: stream },
        ...(ttl === undefined ? {} : { ttl }),
      });
      return { won: true, seq };
    } catch (thrown) {
      if (isRefusedForGood(thrown)) throw refused(stream, thrown);
    }
    const last = await readLast(wire, stream, subject).catch(() => undefined);
    if (last !== undefined) {
      const { message } = last;
      if (message?.header.get(NONCE) === nonce) return { won: true, seq: message.seq };
      if ((message?.seq ?? 0) !== expected) return { won: false, last: message };
    }
    await sleep(pauseMs, signal);
  }
}

/** The leader's copy: a follower may be behind. */
export async function readLast(
  { jsm }: Wire,
  stream: string,
  subject: string,
): Promise<{ readonly message: StoredMsg | undefined }> {
  try {
    return { message: (await jsm.streams.getMessage(stream, { last_by_subj: subject })) ?? undefined };
  } catch (thrown) {
    if (thrown instanceof JetStreamApiError && thrown.code === NO_MESSAGE) return { message: undefined };
    throw thrown;
  }
}

/** Error codes of the server. */
const NO_MESSAGE = 10_037;
const FINAL: ReadonlySet<number> = new Set([
  /* maximum bytes */ 10_047, /* message too large */ 10_054, /* storage */ 10_023,
]);

function isRefusedForGood(thrown: unknown): boolean {
  return thrown instanceof JetStreamApiError && FINAL.has(thrown.code);
}

function refused(stream: string, cause: unknown): ToolError {
  return new ToolError(
    'E_INTERNAL',
    `The fleet refuses to store this: ${cause instanceof Error ? cause.message : ''}`,
    {
      details: {
        reason: 'journal_unavailable',
        stream,
        next: 'check the limits of the stream and the space on the servers',
      },
      cause,
    },
  );
}

export function unavailable(stream: string, cause: unknown): ToolError {
  return new ToolError('E_INTERNAL', 'The journal of the fleet does not answer', {
    details: {
      kind: 'journal_failure',
      retry: 'retryable',
      reason: 'journal_unavailable',
      stream,
      next: 'send the call again; tool-runtime fleet status says which servers are missing',
    },
    cause,
  });
}
