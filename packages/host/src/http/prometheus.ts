/**
 * The figures of a host as Prometheus text, format 0.0.4.
 *
 * Labels are tools, error codes and reasons of refusals, which are bounded. Sessions are not: a label for each would
 * leave a series behind for every session there ever was, so figures per session exist only as roll-ups in JSON
 * (`emit_metrics`).
 */
import type { ToolTotals, Totals } from '@tool-runtime/sdk';
import { DURATION_BOUNDS_MS, mergeTotals, PROMETHEUS_LABELS, PROMETHEUS_METRICS } from '@tool-runtime/sdk/telemetry';
import type { AttemptFigures } from '../auth/failed-attempts.ts';

/** What to serve the text as. */
export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface HostFigures {
  readonly sessions: number;
  readonly connections: number;
  readonly inFlight: number;
  /** Questions without an answer. */
  readonly approvals: number;
  /** Seconds. */
  readonly uptime: number;
  /** Resident bytes. */
  readonly memory: number;
  /** Since the start. */
  readonly eventsMissed: number;
  readonly auth: AttemptFigures;
}

export interface MetricsInput {
  /** One for each runtime, those that were closed included: a counter must never fall. */
  readonly totals: readonly Totals[];
  readonly host: HostFigures;
}

type Metric = (typeof PROMETHEUS_METRICS)[keyof typeof PROMETHEUS_METRICS];
type Labels = Readonly<Record<string, string>>;

export function renderMetrics({ totals, host }: MetricsInput): string {
  const tools = Object.entries(mergeTotals(totals)).sort(([left], [right]) => (left < right ? -1 : 1));
  const lines = [...toolFamilies(tools), ...hostFamilies(host)].flat();
  return `${lines.join('\n')}\n`;
}

type ToolEntries = readonly (readonly [tool: string, totals: ToolTotals])[];

function toolFamilies(tools: ToolEntries): string[][] {
  const { tool: toolLabel, code: codeLabel } = PROMETHEUS_LABELS;
  const perTool = (metric: Metric, figure: (totals: ToolTotals) => number): string[] =>
    family(
      metric,
      tools.map(([tool, totals]) => sample(metric.name, { [toolLabel]: tool }, figure(totals))),
    );
  const errors = tools.flatMap(([tool, totals]) =>
    Object.entries(totals.errorCodes).map(([code, count]) =>
      sample(PROMETHEUS_METRICS.callErrors.name, { [toolLabel]: tool, [codeLabel]: code }, count),
    ),
  );
  return [
    perTool(PROMETHEUS_METRICS.calls, ({ calls }) => calls),
    family(PROMETHEUS_METRICS.callErrors, errors),
    perTool(PROMETHEUS_METRICS.callDenials, ({ denials }) => denials),
    family(
      PROMETHEUS_METRICS.callDuration,
      tools.flatMap(([tool, totals]) => histogram(PROMETHEUS_METRICS.callDuration.name, tool, totals)),
    ),
    perTool(PROMETHEUS_METRICS.filesTouched, ({ filesTouched }) => filesTouched),
    perTool(PROMETHEUS_METRICS.bytes, ({ bytes }) => bytes),
    perTool(PROMETHEUS_METRICS.lockWaits, ({ lockWaits }) => lockWaits),
    perTool(PROMETHEUS_METRICS.lockWaitTime, ({ lockWaitMs }) => lockWaitMs / 1000),
    perTool(PROMETHEUS_METRICS.approvalWaits, ({ approvalWaits }) => approvalWaits),
    perTool(PROMETHEUS_METRICS.approvalWaitTime, ({ approvalWaitMs }) => approvalWaitMs / 1000),
  ];
}

function hostFamilies(host: HostFigures): string[][] {
  const one = (metric: Metric, value: number): string[] => family(metric, [sample(metric.name, {}, value)]);
  return [
    one(PROMETHEUS_METRICS.sessions, host.sessions),
    one(PROMETHEUS_METRICS.connections, host.connections),
    one(PROMETHEUS_METRICS.callsInFlight, host.inFlight),
    one(PROMETHEUS_METRICS.approvalsPending, host.approvals),
    one(PROMETHEUS_METRICS.uptime, host.uptime),
    one(PROMETHEUS_METRICS.memory, host.memory),
    one(PROMETHEUS_METRICS.eventsMissed, host.eventsMissed),
    family(
      PROMETHEUS_METRICS.authFailures,
      Object.entries(host.auth.failures).map(([reason, count]) =>
        sample(PROMETHEUS_METRICS.authFailures.name, { [PROMETHEUS_LABELS.reason]: reason }, count),
      ),
    ),
    one(PROMETHEUS_METRICS.authLimited, host.auth.limited),
    one(PROMETHEUS_METRICS.authSources, host.auth.sources),
  ];
}

/** Buckets count everything up to their bound; the totals hold each step by itself. */
function histogram(name: string, tool: string, totals: ToolTotals): string[] {
  const { tool: toolLabel, upTo } = PROMETHEUS_LABELS;
  let count = 0;
  const buckets = totals.durations.map((calls, step) => {
    count += calls;
    const bound = DURATION_BOUNDS_MS[step];
    return sample(
      `${name}_bucket`,
      { [toolLabel]: tool, [upTo]: bound === undefined ? '+Inf' : String(bound / 1000) },
      count,
    );
  });
  return [
    ...buckets,
    sample(`${name}_sum`, { [toolLabel]: tool }, totals.durationMs / 1000),
    sample(`${name}_count`, { [toolLabel]: tool }, count),
  ];
}

function family({ name, type, help }: Metric, samples: readonly string[]): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples];
}

function sample(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return pairs.length === 0 ? `${name} ${value}` : `${name}{${pairs.join(',')}} ${value}`;
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
