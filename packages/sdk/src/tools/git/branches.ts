/** The verbs of git_branch that change something. Names are checked before git sees them; revisions become hashes. */
import type { ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import type { GitRepository } from '../../contracts/git.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { currentBranch } from '../../git/head-commit.ts';
import { checkBranchName } from '../../git/ref-names.ts';
import { resolveRevision } from '../../git/resolve-revisions.ts';

export interface BranchArgs {
  readonly name?: string | undefined;
  readonly new_name?: string | undefined;
  readonly start?: string | undefined;
  readonly upstream?: string | null | undefined;
  readonly force: boolean;
}

export async function createBranch(git: GitRepository, { name, start, upstream, force }: BranchArgs) {
  const wanted = checkBranchName(required(name, 'create', 'name'), 'name');
  const [hash, existing, tracked] = await Promise.all([
    resolveRevision(git, start ?? 'HEAD', 'start'),
    findBranch(git, wanted),
    upstream === undefined || upstream === null ? undefined : findUpstream(git, upstream),
  ]);
  if (existing !== undefined && !force) throw branchExists(wanted, 'name');
  if (existing?.checkedOut === true)
    throw branchCheckedOut(wanted, 'move it with git_checkout, git_merge or git_rebase');
  await git.run({ words: ['branch', '--no-track', ...forced(force), wanted, hash], access: 'write' });
  if (tracked !== undefined) await setUpstreamOf(git, wanted, tracked);
  return { created: { name: wanted, hash, ...(existing === undefined ? {} : { moved_from: existing.hash }) } };
}

export async function deleteBranch(git: GitRepository, { name, force }: BranchArgs) {
  const wanted = checkBranchName(required(name, 'delete', 'name'), 'name');
  const [existing, current] = await Promise.all([findBranch(git, wanted), currentBranch(git)]);
  if (existing === undefined) throw unknownBranch(wanted, 'name');
  if (existing.checkedOut || current === wanted) throw branchCheckedOut(wanted, 'check out another branch first');
  const { code } = await git.run({
    words: ['branch', '--delete', ...forced(force), wanted],
    access: 'write',
    accept: force ? [0] : [0, 1],
  });
  if (code !== 0) throw branchNotMerged(wanted, existing.hash);
  return { deleted: { name: wanted, hash: existing.hash } };
}

export async function renameBranch(git: GitRepository, { name, new_name, force }: BranchArgs) {
  const from = checkBranchName(name ?? (await currentBranch(git)) ?? required(undefined, 'rename', 'name'), 'name');
  const to = checkBranchName(required(new_name, 'rename', 'new_name'), 'new_name');
  const [fromRef, toRef] = [`refs/heads/${from}`, `refs/heads/${to}`];
  const found = await findRefs(git, [fromRef, toRef]);
  const [source, target] = [found.get(fromRef), found.get(toRef)];
  if (source === undefined) throw unknownBranch(from, 'name');
  if (target !== undefined && from !== to) {
    if (!force) throw branchExists(to, 'new_name');
    if (target.checkedOut) throw branchCheckedOut(to, 'choose another new_name');
  }
  await git.run({ words: ['branch', '--move', ...forced(force), from, to], access: 'write' });
  const replaced = target === undefined || from === to ? {} : { replaced: target.hash };
  return { renamed: { from, to, hash: source.hash, ...replaced } };
}

export async function setUpstream(git: GitRepository, { name, upstream }: BranchArgs) {
  const branch = checkBranchName(
    name ?? (await currentBranch(git)) ?? required(undefined, 'set_upstream', 'name'),
    'name',
  );
  if (upstream === undefined) throw missingArgument('set_upstream', 'upstream');
  const [existing, tracked] = await Promise.all([
    findBranch(git, branch),
    upstream === null ? null : findUpstream(git, upstream),
  ]);
  if (existing === undefined) throw unknownBranch(branch, 'name');
  await setUpstreamOf(git, branch, tracked);
  return { tracking: { name: branch, upstream } };
}

/** Null: none any more. It is no failure when there was none. */
async function setUpstreamOf(git: GitRepository, branch: string, tracked: string | null): Promise<void> {
  if (tracked !== null) {
    await git.run({ words: ['branch', `--set-upstream-to=${tracked}`, branch], access: 'write' });
    return;
  }
  const config = await git.config();
  if (config.get(`branch.${branch}.merge`) === undefined) return;
  await git.run({ words: ['branch', '--unset-upstream', branch], access: 'write' });
}

/** Full name of a branch of a remote, or of a local one. */
async function findUpstream(git: GitRepository, upstream: string): Promise<string> {
  const name = checkBranchName(upstream, 'upstream');
  const candidates = [`refs/remotes/${name}`, `refs/heads/${name}`];
  const found = await findRefs(git, candidates);
  const ref = candidates.find((candidate) => found.has(candidate));
  if (ref === undefined) throw unknownBranch(name, 'upstream');
  return ref;
}

async function findBranch(git: GitRepository, name: string): Promise<KnownRef | undefined> {
  const ref = `refs/heads/${name}`;
  return (await findRefs(git, [ref])).get(ref);
}

function required(value: string | undefined, action: string, argument: string): string {
  if (value === undefined) throw missingArgument(action, argument);
  return value;
}

function forced(force: boolean): readonly string[] {
  return force ? ['--force'] : [];
}

/** What prevents a change to a branch, and what to do about it. */
function missingArgument(action: string, argument: string): ToolError {
  return gitFailure(`Branch ${action} needs an argument: ${argument}`, {
    path: argument,
    reason: 'missing_argument',
    next: `give ${argument}`,
  });
}

function branchExists(name: string, argument: string): ToolError {
  return gitFailure(`Branch exists already: ${safeText(name, 120)}`, {
    path: argument,
    reason: 'exists',
    next: 'choose another name, or pass force: true to replace it',
  });
}

function unknownBranch(name: string, argument: string): ToolError {
  return gitFailure(`Branch not found: ${safeText(name, 120)}`, {
    path: argument,
    reason: 'unknown_branch',
    next: 'list branches with git_branch (action list); git_fetch brings those of a remote',
  });
}

function branchCheckedOut(name: string, next: string): ToolError {
  return gitFailure(`Branch is checked out: ${safeText(name, 120)}`, { path: 'name', reason: 'checked_out', next });
}

function branchNotMerged(name: string, hash: string): ToolError {
  return gitFailure(`Branch is not merged: ${safeText(name, 120)}`, {
    path: 'name',
    reason: 'not_merged',
    next: 'merge it first, or pass force: true to delete it with its commits',
    details: { hash },
  });
}

interface Branch {
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

/**
 * Branches as `git for-each-ref` lists them: one line each, fields parted by NUL; names and subjects hold neither.
 *
 * `patterns` are full names or folders of them, made by us.
 */
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

interface KnownRef {
  readonly hash: string;
  /** Checked out here or in another work tree. */
  readonly checkedOut: boolean;
}

/** Those of the full names that exist. */
async function findRefs(git: GitRepository, names: readonly string[]): Promise<ReadonlyMap<string, KnownRef>> {
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
