/** The line people type into a filter: `tool:grep decision:deny,ask some words`. */
import type { RecordQuery } from '@tool-runtime/protocol';

export const FILTER_KEYS = ['tool', 'kind', 'decision', 'status', 'rule', 'session', 'client', 'code', 'call'] as const;
type Key = (typeof FILTER_KEYS)[number];
const WORD = /(?:(\w+):)?(?:"([^"]*)"|(\S+))/g;

export function parseFilter(line: string): RecordQuery {
  const query: Partial<Record<Key | 'text', string>> = {};
  const words: string[] = [];
  for (const [whole, key, quoted, plain] of line.matchAll(WORD)) {
    const name = FILTER_KEYS.find((one) => one === key);
    const value = quoted ?? plain ?? '';
    if (name === undefined) words.push(key === undefined ? value : whole);
    else query[name] = query[name] === undefined ? value : `${query[name]},${value}`;
  }
  if (words.length > 0) query.text = words.join(' ');
  return query;
}

/** The line with one value of a key added, or taken out when it was there. */
export function toggleIn(line: string, key: Key, value: string): string {
  const { text = '', ...rest } = parseFilter(line) as Partial<Record<Key | 'text', string>>;
  const values = new Set((rest[key] ?? '').split(',').filter((one) => one !== ''));
  if (!values.delete(value)) values.add(value);
  return writeFilter({ ...rest, [key]: [...values].join(',') }, text);
}

export function has(line: string, key: Key, value: string): boolean {
  return ((parseFilter(line) as Record<string, string | undefined>)[key] ?? '').split(',').includes(value);
}

function writeFilter(values: Partial<Record<Key, string>>, text: string): string {
  const parts = Object.entries(values).flatMap(([key, value]) => {
    if (value === undefined || value === '') return [];
    return [/\s/.test(value) ? `${key}:"${value}"` : `${key}:${value}`];
  });
  return [...parts, text].filter((part) => part !== '').join(' ');
}
