/** Reads a stream from its beginning, or the last message of each subject, up to what is there now. */
import { DeliverPolicy, JetStreamApiError, type JsMsg } from '@nats-io/jetstream';
import { unavailable } from './compare-and-append.ts';
import type { Wire } from './open-wire.ts';
import { whenReady } from './streams.ts';

export interface ReadOptions {
  readonly subjects?: readonly string[];
  /** Only the newest message of each subject. */
  readonly lastOnly?: boolean;
  /** From this sequence on. */
  readonly from?: number;
}

const FETCH = 500;
const FETCH_MS = 5000;
/** Fetches in a row that bring nothing although something is left. */
const MAX_EMPTY = 6;

/** Ends with the last message that was there when it began. Throws when the servers do not bring all of them. */
export async function* readStream(
  { js, jsm }: Wire,
  stream: string,
  { subjects, lastOnly = false, from }: ReadOptions = {},
): AsyncGenerator<JsMsg> {
  const until = (await whenReady(() => jsm.streams.info(stream))).state.last_seq;
  if (until === 0 || (from !== undefined && from > until)) return;
  const consumer = await whenReady(() =>
    js.consumers.get(stream, {
      ...(subjects === undefined ? {} : { filter_subjects: [...subjects] }),
      ...(lastOnly ? { deliver_policy: DeliverPolicy.LastPerSubject } : {}),
      ...(from === undefined ? {} : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: from }),
    }),
  );
  for (let empty = 0; empty < MAX_EMPTY; empty += 1) {
    if ((await whenReady(() => consumer.info())).num_pending === 0) return;
    for await (const message of await consumer.fetch({ max_messages: FETCH, expires: FETCH_MS })) {
      empty = -1;
      yield message;
      if (message.info.pending === 0 || message.seq >= until) return;
    }
  }
  throw unavailable(stream, undefined);
}

export function isMissing(thrown: unknown): boolean {
  return thrown instanceof JetStreamApiError && thrown.status === 404;
}
