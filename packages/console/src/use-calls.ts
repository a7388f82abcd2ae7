/**
 * The newest calls that match a filter, kept up to date by what the host tells of changed calls. The list is asked for at the
 * start and after gaps; in between nothing is asked, however many calls there are.
 */
import type { RecordQuery } from '@tool-runtime/protocol';
import { rowTest } from '@tool-runtime/protocol/internal';
import { useEffect, useState } from 'preact/hooks';
import { type CallList, type CallNews, CallRows, MOST_CALLS } from './call-rows.ts';
import { host } from './host.ts';
import { listenToCalls } from './live.ts';

export interface CallsOptions {
  readonly filter: RecordQuery;
  /** Where the time shown begins, right now. */
  from(): number;
  /** The end, for a list that stays as it is. */
  readonly to: number | undefined;
}

/** In steps, so that everyone who looks asks the same. */
const STEP_MS = 10_000;
/** When the list is asked for after something is missing. Meanwhile what is told is shown. */
const SOON_MS = 250;
/** But not more often than that. */
const LEAST_MS = 1000;
/** The host tells once a second of what is too much for it. */
const QUIET_MS = 1500;
/** With a filter, what it is about may be among what was left out: after so long the list is asked for anyway. */
const LATEST_MS = 5000;
/** What another page was told so recently will do. Shorter than it was quiet. */
const SHARED_MS = 200;

export function useCalls(options: CallsOptions, on: readonly unknown[]) {
  const [list, setList] = useState<CallList>();
  const [problem, setProblem] = useState<unknown>();
  const [turn, setTurn] = useState(0);
  useEffect(() => followList(options, setList, setProblem), [...on, turn]);
  return { list, problem, again: () => setTurn((old) => old + 1) };
}

function followList(
  { filter, from, to }: CallsOptions,
  show: (list: CallList) => void,
  fail: (problem: unknown) => void,
): () => void {
  const rows = new CallRows(rowTest(filter), Object.keys(filter).length > 0);
  const again = createAgain(Object.keys(filter).length > 0, () => void ask(SHARED_MS));
  let asked = 0;
  /** Told while the list is asked for; undefined when it is not. */
  let early: CallNews[] | undefined;

  async function ask(maxAge: number): Promise<void> {
    again.cancel();
    asked += 1;
    const mine = asked;
    early = [];
    const start = Math.floor(from() / STEP_MS) * STEP_MS;
    const end = to === undefined ? {} : { to };
    try {
      const found = await host.calls({ ...filter, limit: MOST_CALLS, from: start, max_age_ms: maxAge, ...end });
      if (mine !== asked) return;
      rows.begin(found);
      for (const news of early) rows.take(news);
      early = undefined;
      fail(undefined);
      show(rows.list(from()));
    } catch (thrown) {
      if (mine === asked) fail(thrown);
    }
  }

  function onCalls(news: CallNews): void {
    early?.push(news);
    if (!rows.isAbout(news)) return;
    const state = rows.take(news);
    show(rows.list(from()));
    if (state === 'whole') again.cancel();
    else if (state === 'stale' || again.isDue()) again.plan(news.left_out > 0);
  }

  /** Asks now, and nothing older will do: what went by before the stream was open is in nothing that is told. */
  const onGap = (): void => void ask(0);

  void ask(SHARED_MS);
  const deaf = to === undefined ? listenToCalls({ onCalls, onGap }) : undefined;
  return () => {
    deaf?.();
    again.cancel();
    asked += 1;
  };
}

/** When the list is asked for again. */
function createAgain(isFiltered: boolean, ask: () => void) {
  let [askedAt, staleSince, dueAt] = [0, 0, Number.POSITIVE_INFINITY];
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    isDue: () => timer !== undefined,
    /** After a few that are not known: soon. After many: when it has been quieter for a while, each time anew. */
    plan(isFlood: boolean): void {
      const now = Date.now();
      if (staleSince === 0) staleSince = now;
      if (!isFlood) dueAt = Math.min(dueAt, now + SOON_MS);
      else dueAt = isFiltered ? Math.min(now + QUIET_MS, staleSince + LATEST_MS) : now + QUIET_MS;
      dueAt = Math.max(dueAt, askedAt + LEAST_MS);
      clearTimeout(timer);
      timer = setTimeout(
        () => {
          askedAt = Date.now();
          ask();
        },
        Math.max(0, dueAt - now),
      );
    },
    cancel(): void {
      clearTimeout(timer);
      timer = undefined;
      [staleSince, dueAt] = [0, Number.POSITIVE_INFINITY];
    },
  };
}
