/** Values as people read them. What came from elsewhere is made visible first: it may hold marks that hide or turn text. */
import { signal } from '@preact/signals';

/** Longer texts are cut on screens; the whole is in the journal. */
const MAX_SHOWN = 20_000;
// Controls, direction marks and isolates, zero-width and byte order marks, separators of lines.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

export function visible(text: string, most = MAX_SHOWN): string {
  const part = text.length > most ? text.slice(0, most) : text;
  const shown = part.replace(HIDDEN, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return text.length > most ? `${shown}… (${count(text.length - most)} more characters)` : shown;
}

/** Characters that one line of a list is made from. */
const BRIEF_READ = 4000;

/** One line of a list. */
export const brief = (text: string): string => {
  // The rest is not shown, so it is not looked at either: it may be megabytes.
  const start = text.length > BRIEF_READ ? text.slice(0, BRIEF_READ) : text;
  const shown = visible(start.replaceAll(/\s+/g, ' '), 300);
  return start === text ? shown : `${shown}…`;
};

export const isUtc = signal(localStorage.getItem('utc') === 'true');

export function showUtc(wanted: boolean): void {
  localStorage.setItem('utc', String(wanted));
  isUtc.value = wanted;
}

const two = (value: number): string => String(value).padStart(2, '0');

export function clock(ms: number, withMs = false): string {
  const date = new Date(ms);
  const [hours, minutes, seconds] = isUtc.value
    ? [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()]
    : [date.getHours(), date.getMinutes(), date.getSeconds()];
  const rest = withMs ? `.${String(date.getMilliseconds()).padStart(3, '0')}` : '';
  return `${two(hours)}:${two(minutes)}:${two(seconds)}${rest}`;
}

export function day(ms: number): string {
  const date = new Date(ms);
  return isUtc.value
    ? `${date.getUTCFullYear()}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`
    : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Both clocks, for a tooltip. */
export function bothTimes(ms: number): string {
  const date = new Date(ms);
  return `${date.toLocaleString()} local · ${date.toISOString()}`;
}

export function duration(ms: number): string {
  if (ms === 0) return '0 ms';
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`;
}

export function bytes(size: number): string {
  if (size < 1024) return `${size} B`;
  if (size < 1024 * 1024) return `${(size / 1024).toFixed(1)} KiB`;
  return `${(size / 1024 / 1024).toFixed(1)} MiB`;
}

export const count = (value: number): string => value.toLocaleString('en-US');
export const shortId = (id: string): string => id.replace(/^((?:\w+-)?[0-9a-f]{8})-.*$/, '$1');

/** The colour of an outcome, by what it means: the same everywhere. */
export function toneOf(status: string, decision = ''): 'good' | 'bad' | 'warn' | 'busy' | 'quiet' {
  if (status === 'running') return decision === 'ask' ? 'warn' : 'busy';
  if (decision === 'deny' || status === 'deny' || status === 'denied' || status.startsWith('denied')) return 'bad';
  if (status === 'failed' || status === 'timed_out' || status === 'unknown' || status === 'lost') return 'bad';
  if (status === 'cancelled' || status === 'ask' || status === 'expired' || status === 'warn') return 'warn';
  if (status === 'completed' || status === 'allow' || status.startsWith('approved') || status === 'accepted')
    return 'good';
  return 'quiet';
}

/** Words of the journal, as people say them. */
export function wordOf(status: string): string {
  const words: Record<string, string> = {
    denied_before_execution: 'denied',
    approved_for_session: 'approved for session',
  };
  return words[status] ?? status.replaceAll('_', ' ');
}
