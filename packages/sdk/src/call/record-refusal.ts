/** A refused call is on record like any other: what was asked, which gate refused it, which line of the registry. */

import { isJsonObject, type JsonObject, ToolError } from '@tool-runtime/protocol';
import { completeRefusal, isCancellation } from '../contracts/failures.ts';
import type { MaskCount } from '../contracts/redaction.ts';
import { secretsIn } from '../redaction/call-args.ts';
import { maskError, redactError } from '../redaction/redact-error.ts';
import type { CallRequest, OpenCall, Outcome } from './state/call-types.ts';
import type { SessionParts } from './state/session-parts.ts';
import { reportFault, settle, timesOf } from './state/settle.ts';
import { noteDecision, noteRequested, writeTrail } from './state/trail.ts';

export async function recordRefusal(open: OpenCall, error: ToolError, parts: SessionParts): Promise<Outcome> {
  const explained = explainRefusal(error, parts, open.masks);
  const entry = completeRefusal(explained).toEntry();
  if (!open.progress.requested) {
    noteRequested(open, rawArgs(open.request, parts), parts);
    keepRaw(open, parts);
  }
  noteDecision(open, decisionOf(explained), parts);
  const written = await settle(() => open.time.wait('record', () => writeTrail(open, parts)));
  const errors = written.ok ? [entry] : [entry, await markUnrecorded(open, written.error, parts)];
  await tellTool(open, redactError(explained, parts.redactor), parts);
  return {
    status: isCancellation(explained) ? 'cancelled' : 'denied_before_execution',
    data: null,
    errors,
    changes: [],
    bytes: 0,
    endedAt: parts.clock.now(),
    ...timesOf(open, parts),
  };
}

/** A tool that keeps records of its own has one of every attempt. What goes wrong there changes nothing here. */
async function tellTool(
  { callId, sessionId, request, time }: OpenCall,
  error: ToolError,
  parts: SessionParts,
): Promise<void> {
  const tool = parts.recorders.get(request.tool);
  if (tool === undefined) return;
  const told = await settle(() =>
    time.wait('record', () => tool.recordRefusal?.({ callId, sessionId, actor: parts.actor, error })),
  );
  if (!told.ok) parts.reportUnexpected(told.error);
}

/** The refusal as callers see it: known secrets masked, with the line that decided; what is our fault is reported. */
export function explainRefusal(error: ToolError, parts: SessionParts, count?: MaskCount): ToolError {
  reportFault(error, parts);
  return maskError(withRegistryLine(error, parts), parts.redactor, count);
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
export function rawArgs(
  { args, tool }: Pick<CallRequest, 'args' | 'tool'>,
  parts: SessionParts,
): { readonly argsHash: string; readonly argsSummary: string } {
  try {
    return { argsHash: parts.hashArgs(tool, args as JsonObject), argsSummary: '(not valid)' };
  } catch {
    // Not JSON at all (an in-process caller can pass anything): there is nothing to hash.
    return { argsHash: 'none', argsSummary: '(not JSON)' };
  }
}

/** Another registry may have let the call through, so what was asked is kept as it was sent. */
function keepRaw({ callId, request: { tool, args } }: OpenCall, parts: SessionParts): void {
  if (parts.sealed === undefined || !isJsonObject(args)) return;
  parts.redactor.learn(secretsIn(args, parts.schemaOf(tool)));
  parts.sealed.keep({ callId, tool, args });
}

function decisionOf(error: ToolError) {
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
    message: error.message,
    ...(rule === undefined ? {} : { rule }),
    ...(registry === undefined ? {} : { registry }),
  };
}

async function markUnrecorded(open: OpenCall, cause: ToolError, parts: SessionParts) {
  const marker = {
    kind: 'recovery',
    at_ms: parts.clock.now(),
    call_id: open.callId,
    session_id: open.sessionId,
    reason: 'refusal_unrecorded',
    classification: 'repair',
    note: open.request.tool,
  } as const;
  await settle(() => open.time.wait('record', () => parts.recovery.note(marker, { blocks: false })));
  return new ToolError('E_INTERNAL', 'The refusal could not be recorded', {
    details: { gate: 'journal', reason: 'recovery_required', why: cause.message },
  }).toEntry();
}
