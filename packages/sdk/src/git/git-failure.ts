/** E_GIT in one form: what git could not do, why in its own words, and what to do next. */
import { type JsonObject, ToolError } from '@tool-runtime/protocol';

export interface GitFailureOptions {
  readonly path?: string;
  readonly reason: string;
  readonly next: string;
  readonly details?: JsonObject;
}

export function gitFailure(message: string, { path, reason, next, details }: GitFailureOptions): ToolError {
  return new ToolError('E_GIT', message, {
    ...(path === undefined ? {} : { path }),
    details: { reason, next, ...details },
  });
}
