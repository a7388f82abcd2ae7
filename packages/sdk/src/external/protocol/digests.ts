/** Digests of the protocol: `sha256:` and 64 lower-case hex digits, compared without telling how far they agree. */
import { timingSafeEqual } from 'node:crypto';
import { ToolError } from '@tool-runtime/protocol';
import { WRAPPER_EXIT } from './protocol-constants.ts';

const FORM = /^sha256:[0-9a-f]{64}$/;

/** Returns the text unchanged or throws E_VALIDATION_FAIL naming the field. */
export function checkDigest(text: string, field: string): string {
  if (FORM.test(text)) return text;
  throw new ToolError('E_VALIDATION_FAIL', `Digest is not valid: ${field}`, {
    path: field,
    details: { reason: 'invalid_digest', next: 'Write sha256: and 64 lower-case hex digits' },
  });
}

/** False when either is no digest at all, so that two missing ones are never the same. */
export function sameDigest(expected: string, actual: string): boolean {
  if (!FORM.test(expected) || !FORM.test(actual)) return false;
  return timingSafeEqual(Buffer.from(expected), Buffer.from(actual));
}

/** Names only the expected digest, not the one found. */
export function digestMismatch(expected: string): ToolError {
  return new ToolError('E_POLICY', `Digest does not match the expected one: ${expected}`, {
    details: {
      reason: 'digest_mismatch',
      expected,
      exit_code: WRAPPER_EXIT.digest_mismatch,
      next: 'Restore the file, or lock it again after reviewing what changed',
    },
  });
}

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;

/**
 * The one form of time in a result: `YYYY-MM-DDTHH:MM:SSZ`, twenty characters, UTC, whole seconds.
 *
 * Cuts off the part of a second. Throws TypeError for a time outside the years 0000–9999.
 */
export function formatTimestamp(ms: number): string {
  const second = Math.floor(ms / 1000) * 1000;
  const date = new Date(second);
  const year = date.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) throw new TypeError('Time cannot be written with four digits of a year');
  return `${date.toISOString().slice(0, 19)}Z`;
}

/** Unix milliseconds. Throws E_VALIDATION_FAIL for any other form and for dates that do not exist. */
export function parseTimestamp(text: string): number {
  const ms = TIMESTAMP.test(text) ? Date.parse(text) : Number.NaN;
  // Written back, because 24:00:00 and the like are read as another day.
  if (!Number.isNaN(ms) && formatTimestamp(ms) === text) return ms;
  throw new ToolError('E_VALIDATION_FAIL', 'Timestamp is not valid: expected YYYY-MM-DDTHH:MM:SSZ', {
    details: { reason: 'invalid_timestamp' },
  });
}
