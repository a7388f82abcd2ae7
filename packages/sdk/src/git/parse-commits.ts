/**
 * Reads commits printed with COMMIT_FORMAT: a fixed number of fields, each ended by NUL, which no field can hold.
 *
 * `--decorate=full` and `--encoding=UTF-8` belong to it.
 */

export interface Person {
  readonly name: string;
  readonly email: string;
  /** ISO 8601 with the offset it was written with. */
  readonly date: string;
}

export interface Commit {
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

/** Whole commits only: what a cut left over at the end is dropped. */
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
