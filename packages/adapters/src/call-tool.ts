/**
 * One call for a model: never throws, always has a text that fits into a conversation.
 *
 * A refusal is an answer like any other, in words: the model that asked is the one that has to do something else.
 */
import { createHash } from 'node:crypto';
import {
  type ErrorEntry,
  type JsonObject,
  type JsonValue,
  MAX_ID_BYTES,
  type ToolResponse,
  toToolError,
  utf8Length,
} from '@tool-runtime/protocol';
import type { CallOptions, Session } from '@tool-runtime/sdk';
import { lowerProviderCall, type ToolCallRequest } from '@tool-runtime/sdk/parts';
import { boundText, refusalText } from './answer-text.ts';

export interface ToolCallInput {
  readonly name: string;
  readonly args: unknown;
  /** The provider's id of the call. It is recorded, and within the session no second call of this id ever runs. */
  readonly callId?: string;
  /** Told apart from the ids of other runs that share the session, for providers that count anew in each. */
  readonly runId?: string;
  /** Who sent the call, such as `openai`. */
  readonly provider?: string;
  readonly signal?: AbortSignal;
  /** UTF-8 bytes of `text` at most, and at least 1,024; `limits.max_answer_tokens` of the registry holds in any case. */
  readonly maxTextBytes?: number;
}

export interface ToolCallResult {
  readonly ok: boolean;
  /** For the model: warnings and the answer as readable text, or the refusal. Bounded; a cut names the call for the rest. */
  readonly text: string;
  /** Pictures and documents of the answer, as content blocks of MCP. */
  readonly blocks?: readonly JsonObject[];
  /** For programs: the data, whole. Null when the call did not succeed. */
  readonly structured: JsonValue;
  /** The first error. */
  readonly error?: ErrorEntry;
  /** What was asked, without raw arguments; only for calls that came with an id. */
  readonly request?: ToolCallRequest;
}

export async function callTool(session: Session, call: ToolCallInput): Promise<ToolCallResult> {
  try {
    const request = toRequest(call);
    const response = await session.call(call.name, call.args, callOptions(call, request, session));
    return { ...fromResponse(response, call, session), ...(request === undefined ? {} : { request }) };
  } catch (thrown) {
    // An ended session or an id used before: the framework gets an answer, not an exception.
    return refusedCall([toToolError(thrown).toEntry()], call.maxTextBytes);
  }
}

export function refusedCall(errors: readonly ErrorEntry[], maxTextBytes?: number): ToolCallResult {
  const [error] = errors;
  const text = boundText(refusalText(errors), maxTextBytes);
  return { ok: false, text, structured: null, ...(error === undefined ? {} : { error }) };
}

function toRequest({ name, args, callId, runId, provider = 'provider' }: ToolCallInput): ToolCallRequest | undefined {
  if (callId === undefined || callId === '') return undefined;
  return lowerCall({ name, args, callId: runId === undefined ? callId : `${runId}:${callId}`, provider });
}

function callOptions({ signal }: ToolCallInput, request: ToolCallRequest | undefined, session: Session): CallOptions {
  return {
    ...(request === undefined ? {} : recordedIds(request, session)),
    ...(signal === undefined ? {} : { signal }),
  };
}

function fromResponse(response: ToolResponse, call: ToolCallInput, session: Session): ToolCallResult {
  const { name: tool, args, maxTextBytes: maxBytes } = call;
  if (!response.ok) return refusedCall(response.errors, maxBytes);
  const { text, blocks } = session.present({ tool, args, maxBytes }, response);
  return { ok: true, text, structured: response.data, ...(blocks.length === 0 ? {} : { blocks }) };
}

/**
 * A provider's tool call on its way in: lowered to the runtime's request, and the ids under which it is recorded.
 *
 * Some providers count their ids anew for every run, some send none, some pack kilobytes into them. An id that cannot
 * be recorded as it is appears in the journal as its digest.
 */
interface ProviderCall {
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
function recordedIds(request: ToolCallRequest, session: Session): CallOptions {
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
