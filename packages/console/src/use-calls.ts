/**
 * The newest calls that match a filter, kept up to date by what the host tells of changed calls. The list is asked for at the
 * start and after gaps; in between nothing is asked, however many calls there are.
 */
import type { CallPage, CallRow, RecordQuery } from '@tool-runtime/protocol';
import { rowTest } from '@tool-runtime/protocol/internal';
import { useEffect, useState } from 'preact/hooks';
import { host } from './host.ts';
import { type CallNews, listenToCalls } from './live.ts';

export interface CallList {
  /** Newest first. */
  readonly calls: readonly CallRow[];
  readonly total: number;
  /** Records that went by too fast to be shown. They are in the list when it gets quieter. */
  readonly leftOut: number;
}

export interface CallsOptions {
  readonly filter: RecordQuery;
  /** Where the time shown begins, right now. */
  from(): number;
  /** The end, for a list that stays as it is. */
  readonly to: number | undefined;
}

const MOST = 300;
const MOST_COUNTED = 4096;
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

export function useCalls({ filter, from, to }: CallsOptions, on: readonly unknown[]) {
  const [list, setList] = useState<CallList>();
  const [problem, setProblem] = useState<unknown>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    return followList({ filter, from, to }, setList, setProblem);
  }, [...on, turn]);
  return { list, problem, again: () => setTurn((old) => old + 1) };
}

function followList(
  { filter, from, to }: CallsOptions,
  show: (list: CallList) => void,
  fail: (problem: unknown) => void,
): () => void {
  const test = rowTest(filter);
  const isFiltered = Object.keys(filter).length > 0;
  let page: CallPage | undefined;
  let rows = new Map<string, CallRow>();
  let [total, leftOut, asked, askedAt, staleSince] = [0, 0, 0, 0, 0];
  /** Told while the list is asked for; undefined when it is not. */
  let early: CallNews[] | undefined;
  /** Whether the calls that began after the list was asked for are counted. */
  let counted = new Map<string, boolean>();
  let dueAt = Number.POSITIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function ask(maxAge: number): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    [staleSince, dueAt] = [0, Number.POSITIVE_INFINITY];
    asked += 1;
    askedAt = Date.now();
    const mine = asked;
    early = [];
    const start = Math.floor(from() / STEP_MS) * STEP_MS;
    const end = to === undefined ? {} : { to };
    try {
      const found = await host.calls({ ...filter, limit: MOST, from: start, max_age_ms: maxAge, ...end });
      if (mine !== asked) return;
      page = found;
      rows = new Map(found.calls.map((call) => [call.call_id, call]));
      counted = new Map();
      [total, leftOut] = [found.total, 0];
      for (const news of early) take(news, found);
      early = undefined;
      fail(undefined);
      publish();
    } catch (thrown) {
      if (mine === asked) fail(thrown);
    }
  }

  function take({ workspace, calls }: CallNews, base: CallPage): void {
    if (workspace !== base.workspace) return;
    for (const call of calls) {
      const old = rows.get(call.call_id);
      if (call.last_seq <= (old?.last_seq ?? base.head)) continue;
      const fits = test(call);
      if (fits) rows.set(call.call_id, call);
      else rows.delete(call.call_id);
      const isNew = call.first_seq > base.head;
      // An older one that is not in the list may be further back in it.
      if (!isNew && old === undefined) continue;
      total += Number(fits) - Number(isNew ? counted.get(call.call_id) === true : true);
      if (isNew) counted.set(call.call_id, fits);
    }
  }

  function publish(): void {
    const start = from();
    const calls = [...rows.values()]
      .filter(({ at_ms }) => at_ms >= start)
      .sort((one, other) => other.first_seq - one.first_seq)
      .slice(0, MOST);
    rows = new Map(calls.map((call) => [call.call_id, call]));
    show({ calls, total: Math.max(total, calls.length), leftOut });
  }

  /** After a few that are not known: soon. After many: when it has been quieter for a while, each time anew. */
  function askLater(isFlood: boolean): void {
    const now = Date.now();
    if (staleSince === 0) staleSince = now;
    if (!isFlood) dueAt = Math.min(dueAt, now + SOON_MS);
    else dueAt = isFiltered ? Math.min(now + QUIET_MS, staleSince + LATEST_MS) : now + QUIET_MS;
    dueAt = Math.max(dueAt, askedAt + LEAST_MS);
    clearTimeout(timer);
    timer = setTimeout(() => void ask(SHARED_MS), Math.max(0, dueAt - now));
  }

  void ask(SHARED_MS);
  const deaf = to === undefined ? listenToCalls({ onCalls, onGap }) : undefined;
  return () => {
    deaf?.();
    clearTimeout(timer);
    asked += 1;
  };

  function onCalls(news: CallNews): void {
    early?.push(news);
    if (page?.workspace !== news.workspace) return;
    take(news, page);
    leftOut += news.left_out;
    publish();
    const isDue = !news.is_complete || timer !== undefined || counted.size > MOST_COUNTED;
    if (isDue) askLater(news.left_out > 0);
  }

  /** Asks now, and nothing older will do: what went by before the stream was open is in nothing that is told. */
  function onGap(): void {
    void ask(0);
  }
}
