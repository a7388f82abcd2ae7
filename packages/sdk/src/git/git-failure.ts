/** E_GIT in one form: what git could not do, why in its own words, and what to do next. */
import { type JsonObject, ToolError } from '@tool-runtime/protocol';

export interface GitFailureOptions {
  readonly path?: string;
  readonly reason: string;
  readonly next: string;
  readonly details?: JsonObject;
}

export function gitFailure(message: string, { path, reason, next, details }: GitFailureOptions): ToolError {
  const said = details?.['stderr'];
  const why = lockedFile(said) === undefined ? { reason, next } : LOCKED;
  return new ToolError('E_GIT', message, {
    ...(path === undefined ? {} : { path }),
    details: { ...why, ...details, ...(typeof said === 'string' && { stderr: withoutAdvice(said) }) },
  });
}

/** Advice names commands that cannot be typed here, and steps that were undone already; `next` says what works. */
function withoutAdvice(said: string): string {
  return said.replaceAll(/^hint:.*(?:\n|$)/gm, '').trimEnd();
}

const LOCKED = {
  reason: 'locked',
  next: 'another git process holds the lock: try again; if none is running, remove the .lock file it left',
};

/** The lock that was in git's way. Git says so in many places, and always in these words. */
export function lockedFile(said: unknown): string | undefined {
  return typeof said === 'string' ? /Unable to create '(.*?\.lock)': File exists/.exec(said)?.[1] : undefined;
}
