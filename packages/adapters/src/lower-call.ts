/**
 * A provider's tool call on its way in: lowered to the runtime's request, and the ids under which it is recorded.
 *
 * Some providers count their ids anew for every run, some send none, some pack kilobytes into them. An id that cannot
 * be recorded as it is stands in the journal as its digest.
 */
import { createHash } from 'node:crypto';
import { MAX_ID_BYTES, utf8Length } from '@tool-runtime/protocol';
import type { CallOptions, Session } from '@tool-runtime/sdk';
import { lowerProviderCall, type ToolCallRequest } from '@tool-runtime/sdk/parts';

export interface ProviderCall {
  readonly name: string;
  readonly args: unknown;
  readonly callId: string;
  /** Who sent it, such as `openai`. */
  readonly provider: string;
}

const SUMMARY_LENGTH = 200;
const UNRECORDABLE = /[\u0000-\u001f\u007f-\u009f\ud800-\udfff]/u;

/** Raw arguments stay outside: they are in the provider's transcript under the id of the call. */
export function lowerCall({ name, args, callId, provider }: ProviderCall): ToolCallRequest {
  const id = recordableId(callId);
  return lowerProviderCall(
    {
      tool_call_id: id,
      canonical_tool_name: name,
      requested_args_refs: [{ id }],
      redacted_args_summary: summarize(args),
    },
    { kind: 'external_runtime', id: provider, trust: 'external', privacy: 'internal' },
  );
}

/**
 * The id is the request id of the record. A call that can have effects also gets it as its key, bound to the session:
 * repeating it is answered from the record. Reads get no key, because a keyed answer is kept whole in the journal; their
 * repetition is refused.
 */
export function recordedIds(request: ToolCallRequest, session: Session): CallOptions {
  const requestId = request.tool_call_id;
  const route = session.snapshot.routes.find((known) => known.canonical_tool_name === request.canonical_tool_name);
  if (route?.effect_class === 'read') return { requestId };
  return { requestId, idempotencyKey: recordableId(`${session.id}:${requestId}`) };
}

function recordableId(id: string): string {
  if (utf8Length(id) <= MAX_ID_BYTES && !UNRECORDABLE.test(id)) return id;
  return `sha256:${createHash('sha256').update(id).digest('hex')}`;
}

function summarize(args: unknown): string {
  if (typeof args !== 'object' || args === null) return `arguments: ${typeof args}`;
  const text = `arguments: ${Object.keys(args).join(', ')}`;
  return text.length <= SUMMARY_LENGTH ? text : `${text.slice(0, SUMMARY_LENGTH - 1)}…`;
}
