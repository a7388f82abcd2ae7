/** One valid message of each type, and a check that goes through its fields. */
import assert from 'node:assert/strict';
import type { z } from 'zod';

export const SAMPLES = {
  ToolRequest: {
    type: 'ToolRequest',
    tool: 'file_read',
    args: { path: 'src/lib.ts' },
    request_id: 'request-1',
    session_id: 'session-1',
    timestamp: 1_731_662_400,
  },
  BatchRequest: {
    type: 'BatchRequest',
    request_id: 'batch-1',
    session_id: 'session-1',
    timestamp: 1_731_662_400,
    calls: [{ tool: 'file_read', args: { path: 'src/lib.ts' }, request_id: 'request-1' }],
  },
  BatchResponse: {
    type: 'BatchResponse',
    request_id: 'batch-1',
    responses: [
      { type: 'ErrorMessage', code: 'E_POLICY', message: 'Unknown session: s', request_id: 'request-1' },
      {
        type: 'ToolResponse',
        ok: true,
        tool: 'file_read',
        request_id: 'request-2',
        duration_ms: 1.5,
        data: null,
        errors: [],
        warnings: [],
      },
    ],
  },
  ToolResponse: {
    type: 'ToolResponse',
    ok: true,
    tool: 'file_read',
    request_id: 'request-1',
    duration_ms: 1.5,
    data: { content: 'text' },
    errors: [],
    warnings: [],
  },
  EventMessage: {
    type: 'EventMessage',
    event: 'progress',
    request_id: 'request-1',
    progress: { pct: 40, message: 'reading' },
  },
  ErrorMessage: { type: 'ErrorMessage', code: 'E_POLICY', message: 'Unknown session: s', request_id: 'request-1' },
  Heartbeat: { type: 'Heartbeat', session_id: 'session-1', timestamp: 1_731_662_400 },
  SessionAck: {
    type: 'SessionAck',
    session_id: 'session-1',
    accepted: true,
    server_version: '0.1.0',
    timestamp: 1_731_662_400,
  },
  CancelRequest: {
    type: 'CancelRequest',
    request_id: 'request-1',
    session_id: 'session-1',
    timestamp: 1_731_662_400,
  },
  SessionAttach: { type: 'SessionAttach', session_id: 'session-1' },
  ApprovalAnswer: { type: 'ApprovalAnswer', approval_id: 'approval-1', answer: 'approved' },
  ChildOpen: { type: 'ChildOpen', request_id: 'request-1', session_id: 'session-1', agent_id: 'reviewer' },
  ChildAck: {
    type: 'ChildAck',
    request_id: 'request-1',
    session_id: 'session-2',
    tools: ['file_read'],
    side_effect_level: 'read_only',
    parent_session_id: 'session-1',
    agent_id: 'reviewer',
    package_fingerprint: 'sha256:1',
    manifest: {
      parent_package_fingerprint: 'sha256:0',
      child_agent_id: 'reviewer',
      selected_provider_route_id: 'route.default',
      handoff_policy_variant: 'none',
      tool_policy: { type: 'read_only' },
      recursive_subagent_strip: true,
      stripped_capability_ids: ['tool.file_write'],
      retained_capability_ids: ['tool.file_read'],
      lifecycle_policy_ref: { kind: 'runtime_package', id: 'policy.child.parent_owned' },
      redaction_policy_ref: { kind: 'redaction', id: 'policy.redaction.subagent.default' },
    },
    handoff: { variant: 'none', refs: [], policy_refs: [] },
    depth: { current_depth: 1, max_depth: 8, max_children: 16 },
  },
  ChildEnd: { type: 'ChildEnd', request_id: 'request-1', session_id: 'session-2' },
  ChildEnded: {
    type: 'ChildEnded',
    request_id: 'request-1',
    session_id: 'session-2',
    usage: { calls: 1, errors: 0, bytes: 10, duration_ms: 1.5 },
  },
} as const;

type Message = Readonly<Record<string, unknown>>;

/** The sample passes; it fails without any one of its fields, with a field too many, and as another type. */
export function assertStrict(schema: z.ZodType, sample: Message): void {
  assert.deepEqual(schema.parse(sample), sample);
  for (const field of Object.keys(sample)) {
    const { [field]: _removed, ...rest } = sample;
    assert.deepEqual(badFields(schema, rest), [field], `without ${field}`);
  }
  assert.deepEqual(badFields(schema, { ...sample, type: 'Other' }), ['type']);
  assert.deepEqual(schema.safeParse({ ...sample, surprise: 1 }).error?.issues[0]?.code, 'unrecognized_keys');
}

/** Each value alone makes the sample fail, at that field. */
export function assertRefuses(schema: z.ZodType, sample: Message, field: string, values: readonly unknown[]): void {
  for (const value of values) {
    const fields = badFields(schema, { ...sample, [field]: value });
    assert.deepEqual([...new Set(fields)], [field], `${field} = ${String(value)}`);
  }
}

export function assertAccepts(schema: z.ZodType, sample: Message, field: string, values: readonly unknown[]): void {
  for (const value of values) assert.deepEqual(badFields(schema, { ...sample, [field]: value }), [], String(value));
}

function badFields(schema: z.ZodType, message: Message): string[] {
  return (schema.safeParse(message).error?.issues ?? []).map((issue) => String(issue.path[0]));
}
