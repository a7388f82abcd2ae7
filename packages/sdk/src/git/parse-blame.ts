/**
 * Reads `git blame --incremental`: runs of lines in the order git finds them. What is known of a commit comes with its
 * first run only.
 */
import { unquoteName } from './parse-diff.ts';

export interface BlameGroup {
  /** Null for lines that are not committed. */
  readonly commit: string | null;
  readonly author: string | null;
  readonly email: string | null;
  /** ISO 8601 with the author's offset. */
  readonly date: string | null;
  readonly summary: string | null;
  readonly from_line: number;
  readonly lines: number;
  /** Name of the file in that commit, and the line there. */
  readonly path: string;
  readonly original_line: number;
  readonly previous?: { readonly commit: string; readonly path: string };
  /** No earlier history is here: the first commit, or where a shallow clone ends. */
  readonly boundary?: true;
}

const HEADER = /^([0-9a-f]{40,64}) (\d+) (\d+) (\d+)$/;
const NOT_COMMITTED = /^0+$/;

export function parseBlame(output: string): BlameGroup[] {
  const known = new Map<string, Map<string, string>>();
  const groups: BlameGroup[] = [];
  const lines = output.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const header = HEADER.exec(lines[at] ?? '');
    if (header === null) continue;
    const [, hash = '', original = '', final = '', count = ''] = header;
    const facts = known.get(hash) ?? new Map<string, string>();
    known.set(hash, facts);
    // Each run ends with its file name; before it stand the facts that are new.
    for (let name = ''; name !== 'filename' && at + 1 < lines.length; ) {
      const line = lines[++at] ?? '';
      const space = line.indexOf(' ');
      name = space < 0 ? line : line.slice(0, space);
      facts.set(name, space < 0 ? '' : line.slice(space + 1));
    }
    groups.push(groupOf(hash, facts, [original, final, count].map(Number)));
  }
  return groups.sort((left, right) => left.from_line - right.from_line);
}

function groupOf(hash: string, facts: ReadonlyMap<string, string>, numbers: readonly number[]): BlameGroup {
  const [original = 0, final = 0, count = 0] = numbers;
  const place = {
    from_line: final,
    lines: count,
    path: unquoteName(facts.get('filename') ?? ''),
    original_line: original,
  };
  const [, commit, path = ''] = /^([0-9a-f]+) (.*)$/s.exec(facts.get('previous') ?? '') ?? [];
  const previous = commit === undefined ? {} : { previous: { commit, path: unquoteName(path) } };
  if (NOT_COMMITTED.test(hash)) {
    return { commit: null, author: null, email: null, date: null, summary: null, ...place, ...previous };
  }
  return {
    commit: hash,
    author: facts.get('author') ?? '',
    email: (facts.get('author-mail') ?? '').replace(/^<|>$/g, ''),
    date: isoDate(Number(facts.get('author-time')), facts.get('author-tz') ?? '+0000'),
    summary: facts.get('summary') ?? '',
    ...place,
    ...previous,
    ...(facts.has('boundary') ? { boundary: true as const } : {}),
  };
}

/** The moment as a clock showed it where it was written. */
function isoDate(seconds: number, zone: string): string {
  const [, sign = '+', hours = '00', minutes = '00'] = /^([+-])(\d\d)(\d\d)$/.exec(zone) ?? [];
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  const shifted = new Date((seconds + offset * 60) * 1000);
  return Number.isNaN(shifted.getTime())
    ? new Date(0).toISOString()
    : `${shifted.toISOString().slice(0, 19)}${sign}${hours}:${minutes}`;
}
