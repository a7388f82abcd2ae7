/** Calls over time: a lane for each session, a bar for each call, the stages of a call where its bar is wide enough. */
import type { CallRow, SessionInfo } from '@tool-runtime/protocol';
import { useRef, useState } from 'preact/hooks';
import { brief, clock, duration, shortId, toneOf, visible, wordOf } from '../format.ts';
import { addressOf } from '../location.ts';

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Percent of the track from which a bar has room for its name, and for its stages. */
const NAMED = 6;
const STAGED = 14;
/** A shorter drag is a click. */
const DRAG_PX = 6;

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

interface LanesProps {
  readonly calls: readonly CallRow[];
  readonly sessions: readonly SessionInfo[];
  readonly span: Span;
  /** A drag over the tracks chooses a part of the time. */
  onZoom(span: Span): void;
}

export function Lanes({ calls, sessions, span, onZoom }: LanesProps) {
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => span.from + (span.to - span.from) * share);
  const drag = useDrag(span, onZoom);
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
          <div class="track" {...drag.on}>
            {lane.calls.map((call) => (
              <Bar key={call.call_id} call={call} span={span} />
            ))}
            {drag.area === undefined ? null : (
              <i class="chosen" style={{ left: `${drag.area.left}%`, width: `${drag.area.width}%` }} />
            )}
          </div>
        </div>
      ))}
    </section>
  );
}

function useDrag(span: Span, onZoom: (span: Span) => void) {
  const start = useRef<{ readonly share: number; readonly x: number }>(undefined);
  const [area, setArea] = useState<{ readonly left: number; readonly width: number }>();
  const shareAt = (event: PointerEvent): number => {
    const { left, width } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - left) / width));
  };
  const chosen = (event: PointerEvent): readonly [number, number] | undefined => {
    const from = start.current;
    if (from === undefined || Math.abs(event.clientX - from.x) < DRAG_PX) return undefined;
    const share = shareAt(event);
    return [Math.min(from.share, share), Math.max(from.share, share)];
  };
  return {
    area,
    on: {
      onPointerDown(event: PointerEvent) {
        if (event.button === 0) start.current = { share: shareAt(event), x: event.clientX };
      },
      onPointerMove(event: PointerEvent) {
        const part = chosen(event);
        if (part !== undefined) setArea({ left: part[0] * 100, width: (part[1] - part[0]) * 100 });
      },
      onPointerLeave() {
        start.current = undefined;
        setArea(undefined);
      },
      onPointerUp(event: PointerEvent) {
        const part = chosen(event);
        start.current = undefined;
        setArea(undefined);
        if (part === undefined) return;
        // The link below the pointer is not what was meant.
        addEventListener('click', (click) => click.preventDefault(), { capture: true, once: true });
        const whole = span.to - span.from;
        onZoom({ from: span.from + whole * part[0], to: span.from + whole * part[1] });
      },
    },
  };
}

interface Stage {
  readonly name: CallRow['stages'][number]['stage'];
  readonly at: number;
  readonly end: number;
}

const STAGE_WORDS: Readonly<Record<Stage['name'], string>> = { gates: 'gates', person: 'asks a person', run: 'runs' };

function stagesOf({ stages }: CallRow, end: number): readonly Stage[] {
  return stages.map(({ stage, at_ms }, index) => ({ name: stage, at: at_ms, end: stages[index + 1]?.at_ms ?? end }));
}

function Bar({ call, span }: { readonly call: CallRow; readonly span: Span }) {
  const whole = span.to - span.from;
  const end = call.end_ms ?? span.to;
  const place = (at: number): number => Math.min(100, Math.max(0, ((at - span.from) / whole) * 100));
  const [left, right] = [place(call.at_ms), place(end)];
  const width = right - left;
  const stages = stagesOf(call, end);
  const told = stages.map(({ name, at, end: until }) => `${STAGE_WORDS[name]} ${duration(until - at)}`);
  const isWide = stages.map(({ at, end: until }) => place(until) - place(at) >= NAMED);
  const named = Math.max(0, isWide.indexOf(true));
  const tool = visible(call.tool, 40);
  // Begins with what a wide bar shows, so that people who speak to the page can say what they see.
  const parts = [told.filter((_, at) => isWide[at]), told.filter((_, at) => !isWide[at])].flat();
  const text = `${tool} ${parts.join(' ')}, ${wordOf(call.status)} at ${clock(call.at_ms, true)} after ${duration(end - call.at_ms)}: ${call.summary}`;
  return (
    <a
      class={`bar ${toneOf(call.status, call.decision)}`}
      href={addressOf('call', call.call_id)}
      title={brief(text)}
      aria-label={brief(text)}
      draggable={false}
      style={{ left: `${left}%`, width: `max(4px, ${width}%)` }}
    >
      {width < STAGED ? (
        <>
          {stages.map(({ name, at, end: until }) =>
            name === 'person' ? (
              <i key={at} class="waited" style={within(place(at), place(until), left, width)} />
            ) : null,
          )}
          {width > NAMED ? <span>{tool}</span> : null}
        </>
      ) : (
        stages.map(({ name, at, end: until }, index) => (
          <i key={index} class={`stage ${name}`} style={within(place(at), place(until), left, width)}>
            {index === named ? `${tool} ` : ''}
            {isWide[index] === true ? `${told[index]} ` : ''}
          </i>
        ))
      )}
    </a>
  );
}

/** A part of a bar, in percent of the bar. */
function within(from: number, to: number, left: number, width: number) {
  const share = (part: number): string => `${width === 0 ? 0 : (part / width) * 100}%`;
  return { left: share(from - left), width: share(to - from) };
}
