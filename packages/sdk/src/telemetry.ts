/**
 * Spans and metrics for programs that watch a runtime.
 *
 * An entry of its own (`@tool-runtime/sdk/telemetry`), because only this needs `@opentelemetry/api`.
 */
export type { MetricsRollup, ToolRollup } from './contracts/telemetry.ts';
export { DURATION_BOUNDS_MS } from './events/metrics.ts';
export { mergeTotals, rollUp, sumTotals } from './events/roll-up.ts';
export { ATTRIBUTES, OTEL_METRICS, PROMETHEUS_LABELS, PROMETHEUS_METRICS, SCOPE, SPAN } from './telemetry/names.ts';
export { createOpenTelemetry, type OpenTelemetryOptions } from './telemetry/open-telemetry.ts';
