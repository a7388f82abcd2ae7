/** A refused call is on record like any other: what was asked, which gate said no, which line of the registry. */

import type { JsonObject } from '@tool-runtime/protocol';
import { ToolError } from '@tool-runtime/protocol';
import type { OpenCall, Outcome } from './call-types.ts';
import type { SessionParts } from './session-parts.ts';
import { settle } from './settle.ts';
import { noteDecision, noteRequested, writeTrail } from './trail.ts';

export async function recordRefusal(open: OpenCall, error: ToolError, parts: SessionParts): Promise<Outcome> {
  if (error.code === 'E_INTERNAL' && error.cause !== undefined) parts.reportUnexpected(error);
  const explained = withRegistryLine(error, parts);
  const entry = { ...explained.toEntry(), message: parts.redact(explained.message) };
  noteRequested(open, rawArgs(open, parts), parts);
  noteDecision(open, decisionOf(explained, entry.message), parts);
  const written = await settle(() => writeTrail(open, parts));
  const errors = written.ok ? [entry] : [entry, await markUnrecorded(open, written.error, parts)];
  return {
    status: explained.details['reason'] === 'cancelled' ? 'cancelled' : 'denied_before_execution',
    data: null,
    errors,
    changes: [],
    bytes: 0,
    endedAt: parts.clock.now(),
    durationMs: parts.clock.monotonic() - open.startedTick,
  };
}

/** A gate names the registry key it judged by; here the key becomes the file and line that decided. */
function withRegistryLine(error: ToolError, parts: SessionParts): ToolError {
  const field = error.details['field'];
  if (typeof field !== 'string' || error.details['registry'] !== undefined) return error;
  const spot = parts.registry.spot(field);
  if (spot === undefined) return error;
  return new ToolError(error.code, error.message, {
    ...(error.path === undefined ? {} : { path: error.path }),
    details: { ...error.details, registry: `${spot.file}:${spot.line}` },
    cause: error,
  });
}

/** The arguments as sent, for calls that were refused before theirs were understood. */
function rawArgs(open: OpenCall, parts: SessionParts): { argsHash: string; argsSummary: string } {
  const { args, tool } = open.request;
  try {
    return { argsHash: parts.hashArgs(tool, args as JsonObject), argsSummary: '(not valid)' };
  } catch {
    // Not JSON at all (an in-process caller can pass anything): there is nothing to hash.
    return { argsHash: 'none', argsSummary: '(not JSON)' };
  }
}

function decisionOf(error: ToolError, message: string) {
  const text = (key: string): string | undefined => {
    const value = error.details[key];
    return typeof value === 'string' ? value : undefined;
  };
  const rule = text('rule');
  const registry = text('registry');
  return {
    outcome: 'deny' as const,
    gate: text('gate') ?? 'runtime',
    code: text('reason') ?? error.code,
    message,
    ...(rule === undefined ? {} : { rule }),
    ...(registry === undefined ? {} : { registry }),
  };
}

async function markUnrecorded(open: OpenCall, cause: ToolError, parts: SessionParts) {
  await parts.recovery.note(
    {
      kind: 'recovery',
      at_ms: parts.clock.now(),
      call_id: open.callId,
      session_id: open.sessionId,
      reason: 'refusal_unrecorded',
      classification: 'repair',
      note: open.request.tool,
    },
    { blocks: false },
  );
  return new ToolError('E_INTERNAL', 'The refusal could not be recorded', {
    details: { gate: 'journal', reason: 'recovery_required', why: cause.message },
  }).toEntry();
}
