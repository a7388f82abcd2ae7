/**
 * Failures at a foreign server in our codes. Which one follows from how it is reached, as for tools of our own: E_SHELL
 * for a program, E_HTTP for an address; `details.reason` says what happened and `details.retry` who can fix it.
 */
import {
  InsufficientScopeError,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { type ErrorCode, isToolError, type JsonObject, ToolError } from '@tool-runtime/protocol';
import type { McpServerSettings } from '@tool-runtime/sdk';

export interface FailureSubject {
  readonly server: string;
  readonly settings: McpServerSettings;
  readonly tool?: string;
  redact(text: string): string;
  /** Set while the server is being reached: then nothing was asked of it yet. */
  readonly isStarting?: boolean;
  /** How the process ended, where it did. */
  readonly end?: string | undefined;
}

const MAX_SAID = 2000;

export function upstreamFailure(
  subject: FailureSubject,
  problem: string,
  details: JsonObject & { readonly reason: string },
): ToolError {
  const { server, settings, tool } = subject;
  const code: ErrorCode = settings.url === undefined ? 'E_SHELL' : 'E_HTTP';
  const named = { server, ...(tool === undefined ? {} : { foreign_tool: tool }) };
  return new ToolError(code, `${problem}: ${server}`, { details: { ...named, ...details } });
}

/** Everything the MCP client throws. What is a ToolError already is one of ours and stays. */
export function toUpstreamFailure(thrown: unknown, subject: FailureSubject): ToolError {
  if (isToolError(thrown)) return thrown;
  if (thrown instanceof ProtocolError) return protocolFailure(thrown, subject);
  if (thrown instanceof UnauthorizedError || thrown instanceof InsufficientScopeError) return notAuthorized(subject);
  if (thrown instanceof SdkHttpError) {
    if (thrown.status === 401 || thrown.status === 403) return notAuthorized(subject);
    return upstreamFailure(subject, 'MCP server answered with an error', {
      reason: 'http_status',
      http_status: thrown.status ?? 0,
      retry: 'retryable',
      next: 'look at the log of the server',
    });
  }
  if (thrown instanceof SdkError) return sdkFailure(thrown, subject);
  return unreachable(subject, thrown);
}

function notAuthorized(subject: FailureSubject): ToolError {
  return upstreamFailure(subject, 'MCP server wants other credentials', {
    reason: 'not_authorized',
    retry: 'host_configuration_needed',
    next: 'set headers_env or client_credentials of the server in the registry, or sign in again',
  });
}

/** JSON-RPC errors: the server understood us and said no. */
function protocolFailure({ code, message }: ProtocolError, subject: FailureSubject): ToolError {
  const said = subject.redact(message).slice(0, MAX_SAID);
  const details = { server: subject.server, rpc_code: code, said };
  if (code === ProtocolErrorCode.InvalidParams) {
    return new ToolError('E_VALIDATION_FAIL', `MCP server refused the arguments: ${subject.server}`, {
      details: { ...details, reason: 'invalid_arguments', next: 'change the arguments as the server says' },
    });
  }
  return upstreamFailure(subject, 'MCP server refused the request', { ...details, reason: 'rpc_error' });
}

function sdkFailure(thrown: SdkError, subject: FailureSubject): ToolError {
  switch (thrown.code) {
    case SdkErrorCode.ConnectionClosed:
    case SdkErrorCode.NotConnected:
    case SdkErrorCode.SendFailed:
      return subject.isStarting === true ? unreachable(subject, thrown) : serverEnded(subject);
    case SdkErrorCode.RequestTimeout:
      return new ToolError('E_TIMEOUT', `MCP server did not answer in time: ${subject.server}`, {
        details: { server: subject.server, reason: 'no_answer', retry: 'retryable' },
      });
    case SdkErrorCode.InvalidResult:
    case SdkErrorCode.UnsupportedResultType:
      return upstreamFailure(subject, 'Answer of the MCP server is not one', { reason: 'invalid_answer' });
    default:
      return unreachable(subject, thrown);
  }
}

export function serverEnded(subject: FailureSubject): ToolError {
  return upstreamFailure(subject, 'MCP server ended while the call ran', {
    reason: 'server_ended',
    retry: 'retryable',
    ...endOf(subject),
    next: 'look at what the call may have done before calling again: it was not repeated',
  });
}

function unreachable(subject: FailureSubject, thrown: unknown): ToolError {
  const why = thrown instanceof Error ? subject.redact(causeOf(thrown)).slice(0, 300) : 'unknown';
  return upstreamFailure(subject, 'MCP server cannot be reached', {
    reason: 'server_unreachable',
    retry: 'retryable',
    why,
    ...endOf(subject),
  });
}

function endOf({ end, redact }: FailureSubject): JsonObject {
  return end === undefined ? {} : { end: redact(end) };
}

/** `fetch failed` says nothing; what it was caused by does. */
function causeOf(thrown: Error): string {
  return thrown.cause instanceof Error ? `${thrown.message}: ${thrown.cause.message}` : thrown.message;
}
