/**
 * What tools report, without what depends on time: output comes in chunks whose size is chance, so it is joined by stream, and of
 * reports without data the last one stays.
 */
import type { EventMessage, JsonObject } from '@tool-runtime/protocol';
import type { RecordedEvent } from '../contracts/cassette.ts';

/** Of a burst of output only the newest part is announced, so only so much is always there. */
const MAX_OUTPUT = 4096;
const MAX_MESSAGE = 200;
const STREAMS = ['stdout', 'stderr'] as const;

/** Only progress: everything else is announced by the runtime itself, in replay too. */
export function steadyEvents(messages: readonly EventMessage[]): readonly RecordedEvent[] {
  const reports = messages.filter(({ event }) => event === 'TaskProgress');
  const others = reports.filter((report) => streamOf(report) === undefined);
  const last = others.findLast(({ data }) => data === undefined);
  return [
    ...others.filter((report) => report.data !== undefined || report === last).map(eventOf),
    ...STREAMS.flatMap((stream) => outputOf(stream, reports)),
  ];
}

function eventOf({ progress: { pct, message }, data }: EventMessage): RecordedEvent {
  return { pct, message, ...(data === undefined ? {} : { data }) };
}

function streamOf({ data }: EventMessage): string | undefined {
  const { stream, chunk } = (data ?? {}) as JsonObject;
  return typeof stream === 'string' && typeof chunk === 'string' ? stream : undefined;
}

function outputOf(stream: string, reports: readonly EventMessage[]): readonly RecordedEvent[] {
  const chunks = reports.filter((report) => streamOf(report) === stream).map(({ data }) => String(data?.['chunk']));
  if (chunks.length === 0) return [];
  const all = chunks.join('');
  const chunk = all.length <= MAX_OUTPUT ? all : newestLines(all);
  const lines = chunk.trimEnd();
  const message = lines.slice(lines.lastIndexOf('\n') + 1).slice(-MAX_MESSAGE);
  return [{ pct: 0, message, data: { stream, chunk } }];
}

function newestLines(text: string): string {
  const newest = text.slice(-MAX_OUTPUT);
  return newest.slice(newest.indexOf('\n') + 1);
}
