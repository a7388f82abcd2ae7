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

interface Person {
  readonly name: string;
  readonly email: string;
  /** ISO 8601 with the offset it was written with. */
  readonly date: string;
}

interface Commit {
  readonly hash: string;
  readonly parents: readonly string[];
  readonly author: Person;
  readonly committer: Person;
  readonly subject: string;
  readonly body: string;
  /** Full names of branches and tags that point here; HEAD where it is checked out. */
  readonly refs: readonly string[];
}

const FIELDS = ['%H', '%P', '%an', '%ae', '%aI', '%cn', '%ce', '%cI', '%D', '%s', '%b'] as const;

export const COMMIT_WORDS: readonly string[] = [
  `--format=${FIELDS.join('%x00')}`,
  '--decorate=full',
  '--encoding=UTF-8',
  '--no-show-signature',
  '--no-notes',
  '--no-color',
];

/**
 * Reads commits printed with COMMIT_FORMAT: a fixed number of fields, each ended by NUL, which no field can hold.
 *
 * `--decorate=full` and `--encoding=UTF-8` belong to it.
 *
 * Whole commits only: what a cut left over at the end is dropped.
 */
export function parseCommits(output: string): readonly Commit[] {
  const fields = output.split('\0');
  const commits: Commit[] = [];
  for (let at = 0; at + FIELDS.length < fields.length; at += FIELDS.length) {
    commits.push(commitOf(fields.slice(at, at + FIELDS.length)));
  }
  return commits;
}

/** The commit in front of other output, and where that begins. */
export function splitCommit(output: Buffer): { readonly commit: Commit | undefined; readonly rest: Buffer } {
  let end = -1;
  for (let count = 0; count < FIELDS.length; count++) {
    end = output.indexOf(0, end + 1);
    if (end < 0) return { commit: undefined, rest: Buffer.alloc(0) };
  }
  return { commit: commitOf(output.toString('utf8', 0, end).split('\0')), rest: output.subarray(end + 1) };
}

function commitOf(fields: readonly string[]): Commit {
  const [hash = '', parents = '', an = '', ae = '', ad = '', cn = '', ce = '', cd = '', refs = '', subject = ''] =
    fields;
  return {
    hash,
    parents: parents.split(' ').filter(Boolean),
    author: { name: an, email: ae, date: ad },
    committer: { name: cn, email: ce, date: cd },
    subject,
    body: (fields[10] ?? '').replace(/\n+$/, ''),
    refs: refs.split(', ').filter(Boolean).flatMap(refNames),
  };
}

/** `HEAD -> refs/heads/main` is two names, `tag: refs/tags/v1` one. */
function refNames(written: string): readonly string[] {
  return written.replace(/^tag: /, '').split(' -> ');
}
