/** Branches as `git for-each-ref` lists them: one line each, fields parted by NUL; names and subjects hold neither. */
import type { GitRepository } from '../../../contracts/git.ts';

export interface Branch {
  /** Without `refs/heads/` or `refs/remotes/`. */
  readonly name: string;
  readonly hash: string;
  readonly upstream: string | null;
  /** Null, like `behind`, without an upstream and when it no longer exists. */
  readonly ahead: number | null;
  readonly behind: number | null;
  /** The upstream is configured but not there any more. */
  readonly gone?: true;
  readonly current: boolean;
  readonly remote: boolean;
  readonly subject: string;
}

const FIELDS = [
  'refname',
  'objectname',
  'upstream',
  'upstream:track,nobracket',
  'HEAD',
  'symref',
  'contents:subject',
] as const;

/** `patterns` are full names or folders of them, made by us. */
export async function readBranches(git: GitRepository, patterns: readonly string[]): Promise<readonly Branch[]> {
  const { stdout } = await git.run({
    words: ['for-each-ref', `--format=${FIELDS.map((field) => `%(${field})`).join('%00')}`, ...patterns],
    access: 'read',
  });
  return stdout
    .toString('utf8')
    .split('\n')
    .map((line) => line.split('\0'))
    .filter((fields) => fields.length === FIELDS.length && !isRemoteHead(fields))
    .map(branchOf);
}

/** `origin/HEAD` is another name of a branch, not a branch. */
function isRemoteHead([name = '', , , , , symref = '']: readonly string[]): boolean {
  return name.startsWith('refs/remotes/') && symref !== '';
}

function branchOf(fields: readonly string[]): Branch {
  const [name = '', hash = '', upstream = '', track = '', head = '', , subject = ''] = fields;
  const isKnown = upstream !== '' && track !== 'gone';
  return {
    name: shortName(name),
    hash,
    upstream: upstream === '' ? null : shortName(upstream),
    ahead: isKnown ? Number(/ahead (\d+)/.exec(track)?.[1] ?? 0) : null,
    behind: isKnown ? Number(/behind (\d+)/.exec(track)?.[1] ?? 0) : null,
    ...(track === 'gone' ? { gone: true as const } : {}),
    current: head === '*',
    remote: name.startsWith('refs/remotes/'),
    subject,
  };
}

function shortName(name: string): string {
  return name.replace(/^refs\/(?:heads|remotes)\//, '');
}

export interface KnownRef {
  readonly hash: string;
  /** Checked out here or in another work tree. */
  readonly checkedOut: boolean;
}

/** Those of the full names that exist. */
export async function findRefs(git: GitRepository, names: readonly string[]): Promise<ReadonlyMap<string, KnownRef>> {
  const { stdout } = await git.run({
    words: ['for-each-ref', '--format=%(refname)%00%(objectname)%00%(if)%(worktreepath)%(then)yes%(end)', ...names],
    access: 'read',
  });
  const found = new Map<string, KnownRef>();
  for (const line of stdout.toString('utf8').split('\n')) {
    const [name = '', hash = '', checkedOut = ''] = line.split('\0');
    if (names.includes(name)) found.set(name, { hash, checkedOut: checkedOut !== '' });
  }
  return found;
}
