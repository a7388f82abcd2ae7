/** Calls as they happen: a lane for each session, a bar for each call, and the same calls as a list. */
import type { CallRow, SessionInfo } from '@tool-runtime/protocol';
import { parseFilter } from '../filter.ts';
import { brief, clock, count, duration, shortId, toneOf, visible, wordOf } from '../format.ts';
import { host } from '../host.ts';
import { isPaused, missed, now, running } from '../live.ts';
import { addressOf, choice, choose, go } from '../location.ts';
import { Chip, Empty, Head, Problem, Time } from '../parts/bits.tsx';
import { FilterBar } from '../parts/filter-bar.tsx';
import { useLoaded } from '../use-loaded.ts';

/** `fit`: as long as the calls that are shown take, within the last day. */
const WINDOWS: Readonly<Record<string, number>> = {
  fit: 0,
  '1 min': 60_000,
  '5 min': 300_000,
  '15 min': 900_000,
  '1 h': 3_600_000,
  '6 h': 21_600_000,
  '24 h': 86_400_000,
};
const DAY_MS = 86_400_000;
const MOST = 500;
const LISTED = 200;

interface Span {
  readonly from: number;
  readonly to: number;
}

export function Timeline() {
  const line = choice('q');
  const width = WINDOWS[choice('w')] ?? 0;
  const fixed = Number(choice('at'));
  const to = fixed > 0 ? fixed : now.value;
  const page = useLoaded(
    () =>
      host.calls({
        ...parseFilter(line),
        limit: MOST,
        from: Math.floor(to - (width === 0 ? DAY_MS : width)),
        ...(fixed > 0 ? { to: fixed } : {}),
      }),
    [line, width, fixed],
    { live: !(fixed > 0) },
  );
  const sessions = useLoaded(() => host.sessions(), [], { live: true });
  const calls = page.value?.calls ?? [];
  const span = width === 0 ? spanOf(calls, to) : { from: to - width, to };
  return (
    <>
      <Head title="Timeline">
        <Controls width={width} isFixed={fixed > 0} busy={calls.filter(({ status }) => status === 'running').length} />
      </Head>
      <FilterBar hint="tool:grep decision:deny session:… words   ( / )" />
      {page.problem === undefined ? null : <Problem problem={page.problem} again={page.again} />}
      {calls.length === 0 && page.value !== undefined ? (
        <Empty
          title={
            line === ''
              ? `No calls in the last ${duration(width === 0 ? DAY_MS : width)}`
              : 'No call matches this filter'
          }
        >
          {line === ''
            ? 'Choose a longer time, or make one: '
            : 'Take words out of the filter, or choose a longer time. '}
          {line === '' ? <code>npx tool-runtime call fs_list path=.</code> : null}
        </Empty>
      ) : (
        <>
          <Lanes calls={calls} sessions={sessions.value ?? []} span={span} />
          <CallList calls={calls} total={page.value?.total ?? 0} />
        </>
      )}
    </>
  );
}

/** From the first call to the end of the last one, or to now while one runs. */
function spanOf(calls: readonly CallRow[], to: number): Span {
  const from = Math.min(to, ...calls.map(({ at_ms }) => at_ms));
  const isOver = calls.every(({ end_ms }) => end_ms !== undefined);
  const end = isOver ? Math.max(from, ...calls.map(({ end_ms }) => end_ms ?? to)) : to;
  const edge = Math.max(100, (end - from) * 0.02);
  return { from: from - edge, to: end + edge };
}

function Controls({
  width,
  isFixed,
  busy,
}: {
  readonly width: number;
  readonly isFixed: boolean;
  readonly busy: number;
}) {
  const paused = isPaused.value || isFixed;
  return (
    <>
      {missed.value === 0 ? null : (
        <span
          class="chip warn"
          title="Events that were dropped because this page was too slow or away. The list below is complete."
        >
          {count(missed.value)} events missed
        </span>
      )}
      <span class="chip busy">{count(Math.max(busy, running.value.size))} running</span>
      <span class="segmented" role="group" aria-label="Time shown">
        {Object.entries(WINDOWS).map(([name, ms]) => (
          <button key={name} type="button" aria-pressed={ms === width} onClick={() => choose({ w: name })}>
            {name}
          </button>
        ))}
      </span>
      <button
        type="button"
        aria-pressed={paused}
        onClick={() => {
          isPaused.value = !paused;
          choose({ at: paused ? undefined : String(now.value) });
        }}
      >
        {paused ? 'Resume' : 'Pause'}
      </button>
    </>
  );
}

interface Lane {
  readonly id: string;
  readonly depth: number;
  readonly name: string;
  readonly client: string;
  readonly calls: readonly CallRow[];
}

/** Children below their parents. */
function lanesOf(calls: readonly CallRow[], sessions: readonly SessionInfo[]): readonly Lane[] {
  const bySession = Map.groupBy(calls, ({ session_id }) => session_id);
  const info = new Map(sessions.map((session) => [session.session_id, session]));
  const parentOf = (id: string): string | undefined => info.get(id)?.parent_session_id;
  const ids = [...bySession.keys()];
  const pathOf = (id: string): readonly string[] => {
    const parent = parentOf(id);
    return parent === undefined ? [id] : [...pathOf(parent), id];
  };
  return ids
    .map((id) => ({ id, path: pathOf(id), own: bySession.get(id) ?? [] }))
    .sort((one, other) => (one.path.join(' ') < other.path.join(' ') ? -1 : 1))
    .map(({ id, path, own }) => ({
      id,
      depth: path.length - 1,
      name: info.get(id)?.agent_id ?? own[0]?.actor ?? 'unknown',
      client: own[0]?.client ?? '',
      calls: own,
    }));
}

function Lanes({ calls, sessions, span }: { calls: readonly CallRow[]; sessions: readonly SessionInfo[]; span: Span }) {
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => span.from + (span.to - span.from) * share);
  return (
    <section class="lanes" aria-label="Lanes">
      <div class="axis" aria-hidden="true">
        {ticks.map((tick) => (
          <span key={tick}>{clock(tick, span.to - span.from < 60_000)}</span>
        ))}
      </div>
      {lanesOf(calls, sessions).map((lane) => (
        <div key={lane.id} class="lane">
          <a
            class={`lane-name depth-${Math.min(lane.depth, 4)}`}
            href={addressOf('timeline', '', { q: `session:${lane.id}` })}
          >
            <strong>{brief(lane.name)}</strong>
            <span>
              {brief(lane.client)} · {shortId(lane.id)}
            </span>
          </a>
          <div class="track">
            {lane.calls.map((call) => (
              <Bar key={call.call_id} call={call} span={span} />
            ))}
          </div>
        </div>
      ))}
    </section>
  );
}

function Bar({ call, span }: { readonly call: CallRow; readonly span: Span }) {
  const whole = span.to - span.from;
  const end = call.end_ms ?? span.to;
  const left = Math.max(0, (call.at_ms - span.from) / whole) * 100;
  const width = Math.max(0, Math.min(100 - left, ((end - Math.max(call.at_ms, span.from)) / whole) * 100));
  const waited =
    call.waited_ms === undefined ? 0 : Math.min(100, (call.waited_ms / Math.max(1, end - call.at_ms)) * 100);
  const text = `${call.tool} ${wordOf(call.status)} ${clock(call.at_ms, true)}, ${duration(end - call.at_ms)}: ${call.summary}`;
  return (
    <a
      class={`bar ${toneOf(call.status, call.decision)}`}
      href={addressOf('call', call.call_id)}
      title={brief(text)}
      aria-label={brief(text)}
      style={{ left: `${left}%`, width: `max(4px, ${width}%)` }}
    >
      {waited > 0 ? <i class="waited" style={{ width: `${waited}%` }} /> : null}
      {width > 6 ? <span>{visible(call.tool, 40)}</span> : null}
    </a>
  );
}

function CallList({ calls, total }: { readonly calls: readonly CallRow[]; readonly total: number }) {
  const shown = calls.slice(0, LISTED);
  const onKeyDown = (event: KeyboardEvent): void => {
    const links = Array.from((event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('a.call'));
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    links[
      Math.min(links.length - 1, Math.max(0, links.indexOf(document.activeElement as HTMLElement) + step))
    ]?.focus();
  };
  return (
    <section aria-label="Calls" class="panel flush">
      <div class="panel-head">
        <h2>{count(total)} calls</h2>
        <button type="button" class="small" onClick={() => go('journal', '', { q: choice('q') })}>
          All in the journal
        </button>
      </div>
      <ul class="calls" onKeyDown={onKeyDown}>
        {shown.map((call) => (
          <li key={call.call_id}>
            <a class="call" data-hotkey="j k" href={addressOf('call', call.call_id)}>
              <Time ms={call.at_ms} />
              <Chip word={call.status} decision={call.decision} />
              <span class="tool">{visible(call.tool, 60)}</span>
              <span class="summary">{brief(call.summary)}</span>
              <span class="number">{call.duration_ms === undefined ? '' : duration(call.duration_ms)}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
