/**
 * Every name of a span, an attribute and a metric, for OpenTelemetry and for Prometheus.
 *
 * Names of the OpenTelemetry conventions are used where there is one; the rest begins with `tool_runtime`. A metric that
 * is in both lists has the Prometheus name that the conventions derive from the other, unit and suffix included.
 */

/** Instrumentation scope. */
export const SCOPE = '@tool-runtime/sdk';

/** Followed by the name of the tool: `execute_tool file_read`. */
export const SPAN = 'execute_tool';

export const ATTRIBUTES = {
  operation: 'gen_ai.operation.name',
  tool: 'gen_ai.tool.name',
  callId: 'gen_ai.tool.call.id',
  sessionId: 'session.id',
  errorType: 'error.type',
  requestId: 'tool_runtime.request.id',
  actor: 'tool_runtime.actor',
  status: 'tool_runtime.call.status',
  bytes: 'tool_runtime.call.bytes',
  filesTouched: 'tool_runtime.call.files_touched',
  mutationClass: 'tool_runtime.call.mutation_class',
} as const;

export const OTEL_METRICS = {
  calls: { name: 'tool_runtime.calls', unit: '{call}', help: 'Calls of tools that were answered' },
  callDuration: { name: 'tool_runtime.call.duration', unit: 's', help: 'Time from the request to its answer' },
  bytes: { name: 'tool_runtime.bytes', unit: 'By', help: 'Bytes that calls wrote or answered with' },
  filesTouched: { name: 'tool_runtime.files_touched', unit: '{file}', help: 'Files that calls changed' },
} as const;

export const PROMETHEUS_METRICS = {
  calls: { name: 'tool_runtime_calls_total', type: 'counter', help: OTEL_METRICS.calls.help },
  callErrors: {
    name: 'tool_runtime_call_errors_total',
    type: 'counter',
    help: 'Calls that did not succeed, by their first error code',
  },
  callDenials: {
    name: 'tool_runtime_call_denials_total',
    type: 'counter',
    help: 'Calls that a gate refused before anything ran',
  },
  callDuration: {
    name: 'tool_runtime_call_duration_seconds',
    type: 'histogram',
    help: OTEL_METRICS.callDuration.help,
  },
  bytes: { name: 'tool_runtime_bytes_total', type: 'counter', help: OTEL_METRICS.bytes.help },
  filesTouched: { name: 'tool_runtime_files_touched_total', type: 'counter', help: OTEL_METRICS.filesTouched.help },
  lockWaits: {
    name: 'tool_runtime_lock_waits_total',
    type: 'counter',
    help: 'Calls that found a lock taken and waited for it',
  },
  lockWaitTime: {
    name: 'tool_runtime_lock_wait_seconds_total',
    type: 'counter',
    help: 'Time that calls waited for locks',
  },
  approvalWaits: {
    name: 'tool_runtime_approval_waits_total',
    type: 'counter',
    help: 'Calls that waited for the answer of a person',
  },
  approvalWaitTime: {
    name: 'tool_runtime_approval_wait_seconds_total',
    type: 'counter',
    help: 'Time that calls waited for the answer of a person; not part of their duration',
  },
  sessions: { name: 'tool_runtime_sessions', type: 'gauge', help: 'Open sessions' },
  connections: { name: 'tool_runtime_connections', type: 'gauge', help: 'Open connections of clients' },
  callsInFlight: { name: 'tool_runtime_calls_in_flight', type: 'gauge', help: 'Calls that have no answer yet' },
  approvalsPending: {
    name: 'tool_runtime_approvals_pending',
    type: 'gauge',
    help: 'Questions that wait for an answer',
  },
  uptime: { name: 'tool_runtime_uptime_seconds', type: 'gauge', help: 'Time since the host started' },
  memory: { name: 'tool_runtime_resident_memory_bytes', type: 'gauge', help: 'Resident memory of the host' },
  eventsMissed: {
    name: 'tool_runtime_events_missed_total',
    type: 'counter',
    help: 'Events that slow listeners did not get',
  },
  authFailures: {
    name: 'tool_runtime_auth_failures_total',
    type: 'counter',
    help: 'Failed attempts to authenticate, by reason',
  },
  authLimited: {
    name: 'tool_runtime_auth_limited_total',
    type: 'counter',
    help: 'Failed attempts from sources that were over their limit',
  },
  authSources: {
    name: 'tool_runtime_auth_failing_sources',
    type: 'gauge',
    help: 'Sources of failed attempts in the last minute',
  },
} as const;

export const PROMETHEUS_LABELS = { tool: 'tool', code: 'code', reason: 'reason', upTo: 'le' } as const;
