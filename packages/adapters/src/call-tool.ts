/**
 * One call for a model: never throws, always has a text that fits into a conversation.
 *
 * A refusal is an answer like any other, in words: the model that asked is the one that has to do something else.
 */
import { type ErrorEntry, type JsonValue, type ToolResponse, toToolError } from '@tool-runtime/protocol';
import type { CallOptions, Session } from '@tool-runtime/sdk';
import type { ToolCallRequest } from '@tool-runtime/sdk/parts';
import { boundText, DEFAULT_MAX_TEXT_BYTES } from './bound-text.ts';
import { lowerCall, recordedIds } from './lower-call.ts';
import { refusalText } from './refusal-text.ts';

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
  /** UTF-8 bytes of `text` at most, the marker of a cut not counted; 32 KiB unless said. */
  readonly maxTextBytes?: number;
}

export interface ToolCallResult {
  readonly ok: boolean;
  /** For the model: the data as JSON and warnings, or the refusal. Bounded. */
  readonly text: string;
  /** For programs: the data, whole. Null when the call did not succeed. */
  readonly structured: JsonValue;
  /** The first error. */
  readonly error?: ErrorEntry;
  /** What was asked, without raw arguments; only for calls that came with an id. */
  readonly request?: ToolCallRequest;
}

export async function callTool(session: Session, call: ToolCallInput): Promise<ToolCallResult> {
  const { maxTextBytes = DEFAULT_MAX_TEXT_BYTES } = call;
  try {
    const request = toRequest(call);
    const response = await session.call(call.name, call.args, callOptions(call, request, session));
    return { ...fromResponse(response, maxTextBytes), ...(request === undefined ? {} : { request }) };
  } catch (thrown) {
    // An ended session or an id used before: the framework gets an answer, not an exception.
    return refusedCall([toToolError(thrown).toEntry()], maxTextBytes);
  }
}

export function refusedCall(errors: readonly ErrorEntry[], maxTextBytes = DEFAULT_MAX_TEXT_BYTES): ToolCallResult {
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

function fromResponse({ ok, data, errors, warnings }: ToolResponse, maxTextBytes: number): ToolCallResult {
  if (!ok) return refusedCall(errors, maxTextBytes);
  const notes = warnings.map((warning) => `Warning (${warning.code}): ${warning.message}`);
  return { ok, text: boundText([JSON.stringify(data), ...notes].join('\n'), maxTextBytes), structured: data };
}
