/** The methods a caller may send as they are: all of them only read, and `rename` returns a plan that is not applied. */
import { ToolError } from '@tool-runtime/protocol';

export const RAW_METHODS: readonly string[] = [
  'textDocument/documentSymbol',
  'textDocument/definition',
  'textDocument/references',
  'textDocument/hover',
  'textDocument/implementation',
  'textDocument/prepareTypeHierarchy',
  'typeHierarchy/supertypes',
  'typeHierarchy/subtypes',
  'textDocument/prepareCallHierarchy',
  'callHierarchy/incomingCalls',
  'callHierarchy/outgoingCalls',
  'workspace/symbol',
  'textDocument/diagnostic',
  'textDocument/prepareRename',
  'textDocument/rename',
];

/** Throws E_POLICY. */
export function requireRawMethod(method: string): void {
  if (RAW_METHODS.includes(method)) return;
  const shown = method.length > 80 ? `${method.slice(0, 80)}…` : method;
  throw new ToolError('E_POLICY', `Method is not one that only reads: ${shown}`, {
    path: 'request.method',
    details: {
      kind: 'policy_denial',
      retry: 'not_retryable',
      reason: 'method_not_allowed',
      next: RAW_METHODS.join(', '),
    },
  });
}
