/** emit_metrics: the figures of the caller's session, as an answer and as a `Metrics` event, once or at an interval. */
import { z } from 'zod';
import { policyDenial } from '../../contracts/failures.ts';
import { defineTool } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import { counted } from '../../present/rows.ts';

const MAX_INTERVAL_S = 3600;

const args = z.strictObject({
  interval: z
    .int()
    .min(0)
    .max(MAX_INTERVAL_S)
    .default(0)
    .describe('Seconds between further events until the session ends; 0: once, and stop an earlier interval'),
  session_id: z.string().optional().describe("The caller's own session; no other may be named"),
});

const figures = z.strictObject({
  calls: z.int(),
  errors: z.int().describe('Calls that did not succeed, denied ones included'),
  error_codes: z.record(z.string(), z.int()),
  denials: z.int().describe('Calls a gate refused before anything ran'),
  duration_ms: z.number(),
  max_duration_ms: z.number(),
  durations: z
    .array(z.int())
    .readonly()
    .describe('Calls for each of duration_bounds_ms and, last, those that took longer'),
  files_touched: z.int(),
  bytes: z.int(),
  lock_waits: z.int().describe('How often a lock was not free at once'),
  lock_wait_ms: z.number(),
  approval_waits: z.int().describe('Calls that waited for a person'),
  approval_wait_ms: z.number().describe('Not part of duration_ms'),
});

const data = z.strictObject({
  status: z.enum(['emitted', 'scheduled']),
  session_id: z.string(),
  interval: z.int(),
  rollup: z
    .strictObject({
      tools: z.record(z.string(), figures),
      total: figures,
      duration_bounds_ms: z.array(z.number()).readonly(),
    })
    .describe('All calls of the session that have ended; this one is not among them'),
});

export const emitMetrics = defineTool({
  name: 'emit_metrics',
  category: 'metrics',
  title: 'Emit metrics',
  summary: 'Report counts, durations, errors and bytes of this session, per tool and together',
  policyNotes: 'Only figures of the same session',
  args,
  data,
  annotations: { kind: 'read', side_effect_level: 'read_only' },
  effect: 'read',
  risk: 'low',
  idempotent: true,
  timeoutMs: 10_000,
  present: presentMetrics,
  run({ interval, session_id }, { metrics, sessionId }) {
    if (session_id !== undefined && session_id !== sessionId) throw foreignSession();
    const rollup = metrics.report(interval * 1000);
    return {
      status: interval > 0 ? ('scheduled' as const) : ('emitted' as const),
      session_id: sessionId,
      interval,
      rollup,
    };
  },
});

function foreignSession() {
  return policyDenial('Metrics of another session cannot be read', {
    path: 'session_id',
    details: { gate: 'session', reason: 'foreign_session', next: 'leave session_id out' },
  });
}

function presentMetrics({ status, interval, rollup }: z.output<typeof data>): ToolText {
  const row = (name: string, { calls, errors, denials, duration_ms, bytes }: z.output<typeof figures>): string =>
    `${name}: ${counted(calls, 'call')}, ${errors} failed, ${denials} denied, ${Math.round(duration_ms)} ms, ${bytes} bytes`;
  const rows = Object.entries(rollup.tools).map(([name, each]) => row(name, each));
  const when = status === 'scheduled' ? `scheduled every ${interval} s` : 'emitted';
  return { head: `metrics ${when}\n${row('all tools', rollup.total)}`, parts: [{ type: 'text', text: rows }] };
}
