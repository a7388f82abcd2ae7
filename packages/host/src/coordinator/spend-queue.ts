/**
 * What calls used, on its way to the coordinator: gathered for a moment, sent together, kept for a while when that fails.
 *
 * Best effort and bounded: when too many wait, the oldest go and only their number is told. A batch whose answer got lost
 * is sent again, so the receiver must count each call once.
 */
import type { CoordinatorSpendBody } from '@tool-runtime/protocol';

const GATHER_MS = 250;
const BATCH = 100;
const MAX_WAITING = 1_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

type Spent = CoordinatorSpendBody['spent'][number];

export interface SpendQueue {
  add(spent: Spent): void;
  /** Sends what waits, once; what cannot be sent then is lost. */
  close(): Promise<void>;
}

/** `send` rejects when a batch did not arrive. */
export function createSpendQueue(send: (body: CoordinatorSpendBody) => Promise<void>): SpendQueue {
  const waiting: Spent[] = [];
  let dropped = 0;
  let pauseMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<boolean> | undefined;
  let isClosed = false;

  function keep(spent: readonly Spent[], where: 'front' | 'back'): void {
    if (where === 'front') waiting.unshift(...spent);
    else waiting.push(...spent);
    const excess = waiting.length - MAX_WAITING;
    if (excess <= 0) return;
    waiting.splice(0, excess);
    dropped += excess;
  }

  function sendSoon(): void {
    if (timer !== undefined || sending !== undefined || isClosed || waiting.length === 0) return;
    timer = setTimeout(sendBatch, pauseMs === 0 ? GATHER_MS : pauseMs);
    // A program that ends does not wait for a report; a host that drains calls `close`.
    timer.unref();
  }

  function sendBatch(): Promise<boolean> {
    clearTimeout(timer);
    timer = undefined;
    sending = deliver().finally(() => {
      sending = undefined;
      sendSoon();
    });
    return sending;
  }

  async function deliver(): Promise<boolean> {
    const spent = waiting.splice(0, BATCH);
    const told = dropped;
    try {
      await send({ spent, dropped: told });
      dropped -= told;
      pauseMs = 0;
      return true;
    } catch {
      // No call waits for a report, so it is retried later; the circuit breaker of the questions reports a dead coordinator.
      keep(spent, 'front');
      pauseMs = pauseMs === 0 ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      return false;
    }
  }

  return {
    add(spent) {
      if (isClosed) return;
      keep([spent], 'back');
      if (waiting.length >= BATCH && pauseMs === 0 && sending === undefined) void sendBatch();
      else sendSoon();
    },
    async close() {
      isClosed = true;
      await sending;
      while (waiting.length > 0 && (await sendBatch()));
    },
  };
}
