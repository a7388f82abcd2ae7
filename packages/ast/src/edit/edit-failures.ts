/** The ways an edit is refused, each with one `details.reason`. An edit that was refused has changed nothing. */
import { isToolError, type JsonObject, ToolError, type ToolErrorOptions } from '@tool-runtime/protocol';

export interface RefusalOptions extends ToolErrorOptions {
  readonly next: string;
}

export function refuseEdit(reason: string, message: string, options: RefusalOptions): ToolError {
  const { next, details, ...rest } = options;
  return new ToolError('E_AST_EDIT', message, { ...rest, details: { reason, next, ...details } });
}

/** The id names nothing any more, more than one thing, or something that changed. */
export function staleNode(id: string, why: string, more: JsonObject = {}): ToolError {
  const candidate = more['candidate'];
  const next =
    candidate === undefined
      ? 'query again and use the id found then'
      : 'check the candidate; if it is the right one, use its id';
  return refuseEdit('stale_node', `Node id is stale: ${id} (${why})`, {
    path: 'target_node_id',
    next,
    details: { node_id: id, why, ...more },
  });
}

export function cancelledEdit(cause: unknown): ToolError {
  return new ToolError('E_INTERNAL', 'Edit was cancelled', {
    details: { kind: 'cancellation', retry: 'retryable', reason: 'cancelled' },
    cause,
  });
}

/** Throws the signal's own reason when it is one of ours. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw isToolError(signal.reason) ? signal.reason : cancelledEdit(signal.reason);
}
