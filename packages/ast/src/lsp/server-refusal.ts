/** A server's own error answer as one of ours: whose fault it is decides the code. */
import { type ErrorCode, ToolError } from '@tool-runtime/protocol';
import { ErrorCodes, ResponseError } from 'vscode-jsonrpc/node';

/** ServerCancelled, ContentModified, RequestCancelled: asked at the wrong moment, not wrongly. */
const PASSING = [-32802, -32801, -32800];
const EDITS = ['textDocument/rename', 'textDocument/prepareRename', 'textDocument/codeAction', 'codeAction/resolve'];
const MAX_MESSAGE = 300;

interface Refusal {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly retry: 'retryable' | 'not_retryable';
  readonly next: string;
}

/** What was thrown, unless it is the server's answer. */
export function explainRefusal(thrown: unknown, method: string, hide: (text: string) => string): unknown {
  if (!(thrown instanceof ResponseError)) return thrown;
  const { code, reason, retry, next } = judge(thrown.code, method);
  const said = hide(thrown.message).slice(0, MAX_MESSAGE);
  return new ToolError(code, `Language server refused: ${method}`, {
    details: { kind: 'tool_failure', retry, reason, said, server_code: thrown.code, next },
  });
}

function judge(code: number, method: string): Refusal {
  if (PASSING.includes(code)) {
    return { code: 'E_INTERNAL', reason: 'server_cancelled', retry: 'retryable', next: 'ask again' };
  }
  if (code === ErrorCodes.MethodNotFound) {
    const kind: ErrorCode = EDITS.includes(method) ? 'E_AST_EDIT' : 'E_VALIDATION_FAIL';
    return { code: kind, reason: 'not_supported', retry: 'not_retryable', next: 'use another provider or method' };
  }
  if (EDITS.includes(method)) {
    return {
      code: 'E_AST_EDIT',
      reason: 'server_refused',
      retry: 'not_retryable',
      next: 'look at what the server said',
    };
  }
  const isOurs = code === ErrorCodes.InvalidParams || code === ErrorCodes.InvalidRequest;
  return {
    code: isOurs ? 'E_VALIDATION_FAIL' : 'E_INTERNAL',
    reason: 'server_refused',
    retry: 'not_retryable',
    next: 'look at what the server said',
  };
}
