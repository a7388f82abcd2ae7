/** Calls as they happen: a lane for each session, a bar for each call, and the same calls as a list. */
import type { CallRow, SessionInfo } from '@tool-runtime/protocol';
import { useState } from 'preact/hooks';
import { parseFilter } from '../filter.ts';
import { brief, count, duration, visible } from '../format.ts';
import { host } from '../host.ts';
import { missed, now, running } from '../live.ts';
import { addressOf, choice, choose, go } from '../location.ts';
import { Chip, Empty, Head, Problem, Time } from '../parts/bits.tsx';
import { FilterBar } from '../parts/filter-bar.tsx';
import { useCalls } from '../use-calls.ts';
import { useLoaded } from '../use-loaded.ts';
import { Lanes, type Span } from './timeline-lanes.tsx';

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
const LISTED = 200;

/** Closer than this nothing more is to be seen: times are in milliseconds. */
const NEAREST_MS = 4;

export function Timeline() {
  const line = choice('q');
  const width = WINDOWS[choice('w')] ?? 0;
  const fixed = Number(choice('at'));
  const to = fixed > 0 ? fixed : now.value;
  const wide = width === 0 ? DAY_MS : width;
  const { list, problem, again } = useCalls(
    {
      filter: parseFilter(line),
      from: () => (fixed > 0 ? fixed : Date.now()) - wide,
      to: fixed > 0 ? fixed : undefined,
    },
    [line, width, fixed],
  );
  const calls = list?.calls ?? [];
  const sessions = useSessions(calls);
  const whole = width === 0 ? spanOf(calls, to) : { from: to - width, to };
  const zoom = readZoom();
  const span = zoom ?? whole;
  const shown = calls.filter((call) => overlaps(call, span));
  return (
    <>
      <Head title="Timeline">
        <Zoom span={span} isZoomed={zoom !== undefined} />
        <Controls
          width={width}
          isPaused={fixed > 0}
          busy={calls.filter(({ status }) => status === 'running').length}
          leftOut={list?.leftOut ?? 0}
        />
      </Head>
      <FilterBar hint="tool:grep decision:deny session:… words   ( / )" />
      {problem === undefined ? null : <Problem problem={problem} again={again} />}
      {calls.length === 0 && list !== undefined ? (
        <Empty title={line === '' ? `No calls in the last ${duration(wide)}` : 'No call matches this filter'}>
          {line === ''
            ? 'Choose a longer time, or make one: '
            : 'Take words out of the filter, or choose a longer time. '}
          {line === '' ? <code>npx tool-runtime call fs_list path=.</code> : null}
        </Empty>
      ) : (
        <>
          <Lanes calls={shown} sessions={sessions} span={span} onZoom={zoomTo} />
          <CallList
            calls={shown}
            total={zoom === undefined ? (list?.total ?? 0) : shown.length}
            isAtLeast={zoom === undefined && list?.isAtLeast === true}
          />
        </>
      )}
    </>
  );
}

function readZoom(): Span | undefined {
  const [from = Number.NaN, to = Number.NaN] = choice('zoom').split('-').map(Number);
  return to > from ? { from, to } : undefined;
}

function zoomTo({ from, to }: Span): void {
  const wide = Math.max(NEAREST_MS, to - from);
  choose({ zoom: `${Math.floor(from)}-${Math.ceil(from + wide)}` });
}

function overlaps({ at_ms, end_ms = Number.POSITIVE_INFINITY }: CallRow, { from, to }: Span): boolean {
  return at_ms <= to && end_ms >= from;
}

function Zoom({ span: { from, to }, isZoomed }: { readonly span: Span; readonly isZoomed: boolean }) {
  const quarter = (to - from) / 4;
  return (
    <span class="segmented" role="group" aria-label="Zoom">
      <button type="button" aria-label="Zoom in" onClick={() => zoomTo({ from: from + quarter, to: to - quarter })}>
        +
      </button>
      <button
        type="button"
        aria-label="Zoom out"
        onClick={() => zoomTo({ from: from - 2 * quarter, to: to + 2 * quarter })}
      >
        −
      </button>
      {isZoomed ? (
        <button type="button" onClick={() => choose({ zoom: undefined })}>
          All
        </button>
      ) : null}
    </span>
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

/** Those that are open. Asked for when a call names a session that was not asked about. */
function useSessions(calls: readonly CallRow[]): readonly SessionInfo[] {
  const [asked] = useState(new Set<string>());
  for (const { session_id } of calls) asked.add(session_id);
  return useLoaded(() => host.sessions(), [asked.size]).value ?? NONE;
}

const NONE: readonly SessionInfo[] = [];

interface ControlsProps {
  readonly width: number;
  readonly isPaused: boolean;
  readonly busy: number;
  readonly leftOut: number;
}

function Controls({ width, isPaused, busy, leftOut }: ControlsProps) {
  const missedText = textOfMissed(missed.value);
  return (
    <>
      {missedText === '' ? null : (
        <span
          class="chip warn"
          title="Events that were dropped because this page was too slow or away. The list below is complete."
        >
          {missedText}
        </span>
      )}
      {leftOut === 0 ? null : (
        <span
          class="chip warn"
          title="Calls come too fast to be shown one by one. The list is whole again when it gets quieter."
        >
          newest only
        </span>
      )}
      <span class="chip busy">{count(Math.max(busy, running.value))} running</span>
      <span class="segmented" role="group" aria-label="Time shown">
        {Object.entries(WINDOWS).map(([name, ms]) => (
          <button
            key={name}
            type="button"
            aria-pressed={ms === width}
            onClick={() => choose({ w: name, zoom: undefined })}
          >
            {name}
          </button>
        ))}
      </span>
      <button
        type="button"
        aria-pressed={isPaused}
        onClick={() => choose({ at: isPaused ? undefined : String(Date.now()) })}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </button>
    </>
  );
}

function textOfMissed({ counted, others }: typeof missed.value): string {
  if (counted === 0) return others ? 'events missed' : '';
  const events = counted === 1 && !others ? 'event' : 'events';
  return `${others ? 'more than ' : ''}${count(counted)} ${events} missed`;
}

interface CallListProps {
  readonly calls: readonly CallRow[];
  readonly total: number;
  readonly isAtLeast: boolean;
}

function CallList({ calls, total, isAtLeast }: CallListProps) {
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
        <h2>
          {isAtLeast ? 'More than ' : ''}
          {count(total)} calls
        </h2>
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
