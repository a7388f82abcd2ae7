/** Dates as callers may write them, and as git understands them without guessing. */
import { z } from 'zod';

const ABSOLUTE =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?:[T ]([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?)?$/;
const RELATIVE = /^(?:now|today|yesterday|\d{1,6}[ .](?:second|minute|hour|day|week|month|year)s?[ .]ago)$/;

export const dateWords = z.string().refine((text) => ABSOLUTE.test(text) || RELATIVE.test(text), {
  error: 'a date (2026-01-31), a date with time (2026-01-31T08:00:00Z) or words such as "2 weeks ago"',
});

/** To git a bare date means that day at this time of the day; to people it means the whole day. */
export function gitDate(text: string, end: 'since' | 'until'): string {
  const isBareDay = /^\d{4}-\d\d-\d\d$/.test(text);
  if (isBareDay) return `${text}T${end === 'since' ? '00:00:00' : '23:59:59'}`;
  if (text === 'today') return end === 'since' ? 'midnight' : 'now';
  return text;
}
