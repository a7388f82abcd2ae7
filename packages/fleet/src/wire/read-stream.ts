/** Reads a stream from its beginning, or the last message of each subject, up to what is there now. */
import { DeliverPolicy, JetStreamApiError, type JsMsg } from '@nats-io/jetstream';
import type { Wire } from './open-wire.ts';

export interface ReadOptions {
  readonly subjects?: readonly string[];
  /** Only the newest message of each subject. */
  readonly lastOnly?: boolean;
  /** From this sequence on. */
  readonly from?: number;
}

const FETCH = 500;
const FETCH_MS = 5000;

/** Ends with the last message that was there when it began, or the first time nothing comes. */
export async function* readStream(
  { js, jsm }: Wire,
  stream: string,
  { subjects, lastOnly = false, from }: ReadOptions = {},
): AsyncGenerator<JsMsg> {
  const until = (await jsm.streams.info(stream)).state.last_seq;
  if (until === 0 || (from !== undefined && from > until)) return;
  const consumer = await js.consumers.get(stream, {
    ...(subjects === undefined ? {} : { filter_subjects: [...subjects] }),
    ...(lastOnly ? { deliver_policy: DeliverPolicy.LastPerSubject } : {}),
    ...(from === undefined ? {} : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: from }),
  });
  for (;;) {
    if ((await consumer.info()).num_pending === 0) return;
    const batch = await consumer.fetch({ max_messages: FETCH, expires: FETCH_MS });
    let isLast = true;
    for await (const message of batch) {
      isLast = message.info.pending === 0;
      yield message;
      if (isLast || message.seq >= until) return;
    }
    if (isLast) return;
  }
}

export function isMissing(thrown: unknown): boolean {
  return thrown instanceof JetStreamApiError && thrown.status === 404;
}
