/** The one form of time in a result: `YYYY-MM-DDTHH:MM:SSZ`, twenty characters, UTC, whole seconds. */
import { ToolError } from '@tool-runtime/protocol';

const FORM = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;

/** Cuts off the part of a second. Throws TypeError for a time outside the years 0000–9999. */
export function formatTimestamp(ms: number): string {
  const second = Math.floor(ms / 1000) * 1000;
  const date = new Date(second);
  const year = date.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) throw new TypeError('Time cannot be written with four digits of a year');
  return `${date.toISOString().slice(0, 19)}Z`;
}

/** Unix milliseconds. Throws E_VALIDATION_FAIL for any other form and for dates that do not exist. */
export function parseTimestamp(text: string): number {
  const ms = FORM.test(text) ? Date.parse(text) : Number.NaN;
  // Written back, because 24:00:00 and the like are read as another day.
  if (!Number.isNaN(ms) && formatTimestamp(ms) === text) return ms;
  throw new ToolError('E_VALIDATION_FAIL', 'Timestamp is not valid: expected YYYY-MM-DDTHH:MM:SSZ', {
    details: { reason: 'invalid_timestamp' },
  });
}
