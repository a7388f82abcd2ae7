/**
 * git_add: stages files as they are now, deletions included.
 *
 * Status before says which index entries will change; for tracked files that are named one by one, git itself says it as it
 * stages them. What git would do in part or in silence (ignored files, other repositories inside this one) is refused
 * before anything is staged, so a failed call stages nothing.
 */
import { safeText } from '@tool-runtime/protocol/internal';
import { z } from 'zod';
import type { GitRepository } from '../../contracts/git.ts';
import { defineTool, type RehearsalContext, type ToolContext } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { hasEntries } from '../../git/index-entries.ts';
import { parseStatus, type StatusEntry } from '../../git/parse-status.ts';
import { cleanPath, globPathspecs, literalPathspec, UNFINISHED } from '../../git/pathspec.ts';
import { INDEX_SUBJECT, readGit } from '../../git/read-git.ts';
import { readIndex } from '../../git/read-index.ts';
import { emptyTree } from '../../git/resolve-revisions.ts';
import { counted, shownName } from '../../present/rows.ts';
import { GIT_LOCKS, WRITE_GIT } from './git-annotations.ts';
import { exactNames, isThere, paths, pathspecsOf } from './git-arguments.ts';
import { mayConvert } from './recovery/may-convert.ts';
import { type RawPath, toRaw, toShown } from './recovery/raw-path.ts';
import { refuseGitData, refuseInsideRepository, refuseLfsContents, refuseRepository } from './refuse-paths.ts';

const MAX_LISTED = 1000;

const args = z.strictObject({
  paths: paths.min(1).describe('Files, folders or globs to stage; "." is everything'),
  update: z.boolean().default(false).describe('Only files that git tracks'),
  force: z.boolean().default(false).describe('Ignored files too'),
});

const data = z.strictObject({
  added: z.int().describe('Paths whose entry in the index changed, deletions among them'),
  paths: z.array(z.string()).describe(`These paths, at most ${MAX_LISTED}`),
});

type Args = z.output<typeof args>;

export const gitAdd = defineTool({
  name: 'git_add',
  category: 'git',
  title: 'Git add',
  summary: 'Stage changes for the next commit',
  policyNotes:
    'Paths that leave the workspace, git data and files inside another repository are refused; nothing is staged then',
  args,
  data,
  annotations: {
    ...WRITE_GIT,
    arg_schema: { path_params: ['paths'], set_params: ['paths'], arg_aliases: { files: 'paths' }, required: ['paths'] },
  },
  effect: 'write',
  risk: 'low',
  idempotent: true,
  rehearse: expectIndex,
  timeoutMs: 30_000,
  locks: GIT_LOCKS,
  git: () => ({ verb: 'add' }),
  present: presentAdded,
  async run(wanted, context) {
    const { git, workspace } = context;
    for (const path of wanted.paths) refuseGitData(path);
    const exact = await exactNames(wanted.paths, workspace);
    await refuseInsideRepository(wanted.paths, exact, workspace);
    const tracked = await trackedFiles(wanted, exact, context);
    if (tracked !== undefined) return stageTracked(tracked, { wanted, exact }, context);
    const entries = await changesBelow(wanted, context);
    const ignored = wanted.force || wanted.update ? [] : await ignoredAmong(git, unlisted(exact, entries));
    if (ignored.length > 0) throw areIgnored(ignored);
    const changes = entries.filter(({ kind }) => !wanted.update || kind === 'tracked' || kind === 'unmerged');
    const skipped = otherRepositories(changes, exact, context);
    for (const { path } of changes) workspace.requireAllowed(path, 'read', 'themselves');
    await refuseLfsContents(
      changes.map(({ path }) => path).filter((path) => !skipped.includes(path)),
      context,
    );
    await stage(git, wanted, pathspecsFor(wanted.paths, { exact, changes, skipped }));
    const staged = changes.map(({ path }) => path).filter((path) => !skipped.includes(path));
    return { added: staged.length, paths: staged.slice(0, MAX_LISTED) };
  },
});

/** An index that is byte for byte as before shows that nothing was staged. What it will be only git can say. */
async function expectIndex(_given: Args, { git, expect }: RehearsalContext): Promise<undefined> {
  const index = await readGit(git, INDEX_SUBJECT);
  if (index !== undefined) expect({ subject: INDEX_SUBJECT, before: index.exact, after: null });
}

/** Undefined unless the caller names files one by one and git has all of them: then status need not be asked for. */
async function trackedFiles(
  { paths: named }: Args,
  exact: ReadonlySet<string>,
  { git, workspace }: ToolContext,
): Promise<ReadonlySet<RawPath> | undefined> {
  // Git says the names a line each.
  if (!named.every((path) => exact.has(path) && !path.includes('\n'))) return undefined;
  const plain = named.map(cleanPath);
  for (const path of plain) {
    if (!(await isThere(path, workspace)) || (await workspace.stat(path))?.type !== 'file') return undefined;
  }
  const names = new Set(plain.map(toRaw));
  // Contents of git-lfs are refused by what status lists.
  if (await mayConvert([...names], { git, workspace })) return undefined;
  return (await areTracked(git, names)) ? names : undefined;
}

/** False as well where only git can read the index. */
async function areTracked(git: GitRepository, names: ReadonlySet<RawPath>): Promise<boolean> {
  const [index, config] = await Promise.all([git.files.read('index'), git.config()]);
  const hashBytes = emptyTree(config).length / 2;
  const facts = index === undefined ? undefined : readIndex(index, hashBytes);
  return facts?.isPlain === true && hasEntries(facts, hashBytes, names);
}

/** Git names each file whose entry it changes. */
async function stageTracked(
  tracked: ReadonlySet<RawPath>,
  { wanted, exact }: { readonly wanted: Args; readonly exact: ReadonlySet<string> },
  { git, workspace }: ToolContext,
): Promise<z.output<typeof data>> {
  for (const path of tracked) workspace.requireAllowed(toShown(path), 'read', 'themselves');
  const said = await stage(git, wanted, pathspecsFor(wanted.paths, { exact, changes: [], skipped: [] }));
  const lines = new Set(said.toString('latin1').split('\n'));
  const changed = [...tracked].filter((path) => STAGED.some((begin) => lines.has(`${begin} '${path}'`))).sort();
  return { added: changed.length, paths: changed.map(toShown).slice(0, MAX_LISTED) };
}

/** Where work tree and index differ below the paths. */
async function changesBelow(
  { paths: named, force }: Args,
  { git, workspace }: ToolContext,
): Promise<readonly StatusEntry[]> {
  const words = [
    'status',
    '--porcelain=v2',
    '-z',
    '--no-renames',
    '--ignore-submodules=dirty',
    '--untracked-files=all',
  ];
  const specs = await pathspecsOf(named, workspace);
  const { stdout } = await git.run({
    words: [...words, ...(force ? ['--ignored=traditional'] : []), '--', ...specs],
    access: 'read',
  });
  return parseStatus(stdout.toString('utf8')).entries.filter(({ worktree }) => worktree !== '.');
}

/** What status lists is not ignored: mostly that is all that was named, and git need not be asked again. */
function unlisted(named: ReadonlySet<string>, entries: readonly StatusEntry[]): readonly string[] {
  const listed = new Set(entries.map(({ path }) => path));
  return [...named].map(cleanPath).filter((path) => path !== '' && !listed.has(path));
}

/** Files that are named themselves although they are ignored; what a glob or folder merely covers is passed over. */
async function ignoredAmong(git: GitRepository, plain: readonly string[]): Promise<readonly string[]> {
  if (plain.length === 0) return [];
  const { stdout } = await git.run({
    words: ['check-ignore', '-z', '--stdin'],
    access: 'read',
    // A leading colon would be magic.
    stdin: plain.map((path) => `./${path}\0`).join(''),
    accept: [0, 1],
  });
  const found = stdout.toString('utf8').split('\0').filter(Boolean);
  return found.map((path) => path.slice(2));
}

/** Status names a repository inside this one like a folder. Named itself it is refused, merely covered left out. */
function otherRepositories(
  changes: readonly StatusEntry[],
  exact: ReadonlySet<string>,
  { warn }: ToolContext,
): readonly string[] {
  const named = new Set([...exact].map(cleanPath));
  const found = changes.filter(({ path }) => path.endsWith('/')).map(({ path }) => path);
  for (const path of found) {
    const plain = path.slice(0, -1);
    if (named.has(plain)) throw refuseRepository(plain);
    warn({
      code: 'E_GIT',
      message: `Repository inside this one was left out: ${safeText(plain, 120)}`,
      path: plain,
      details: { reason: 'nested_repository', next: 'list it in .gitignore, or make it a submodule' },
    });
  }
  return found;
}

interface Looked {
  readonly exact: ReadonlySet<string>;
  readonly changes: readonly StatusEntry[];
  readonly skipped: readonly string[];
}

/** A glob that is the name of a deleted file means that file. */
function pathspecsFor(named: readonly string[], { exact, changes, skipped }: Looked): readonly string[] {
  const changed = new Set(changes.map(({ path }) => path));
  const specs = globPathspecs(named, (path) => exact.has(path) || changed.has(cleanPath(path)));
  const left = skipped.map((path) => literalPathspec(path).replace(':(top,', ':(top,exclude,'));
  return [...specs, ...left, ...UNFINISHED];
}

/** How lines of `git add --verbose` begin. */
const STAGED = ['add', 'remove'];

/** Answers what git says of the entries it changes. */
async function stage(git: GitRepository, { update, force }: Args, specs: readonly string[]): Promise<Buffer> {
  const { code, stdout, stderr } = await git.run({
    words: [
      'add',
      // Otherwise git stages the rest and then fails over files outside a sparse checkout.
      '--sparse',
      '--verbose',
      ...(update ? ['--update'] : ['--all']),
      ...(force ? ['--force'] : []),
      '--pathspec-from-file=-',
      '--pathspec-file-nul',
    ],
    access: 'write',
    stdin: specs.map((spec) => `${spec}\0`).join(''),
    accept: [0, 1, 128],
  });
  if (code === 0) return stdout;
  // Our own spelling looked up in what git says, where most control characters are question marks.
  const unmatched = specs.find((spec) => stderr.includes(`'${spec.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '?')}'`));
  throw unmatched === undefined ? notStaged(stderr) : matchesNothing(unmatched.replace(/^:\([^)]*\)/, ''));
}

function matchesNothing(path: string) {
  return gitFailure(`Path matches no file: ${safeText(path, 120)}`, {
    path: 'paths',
    reason: 'no_match',
    next: 'check the spelling; git_status lists what can be staged',
    details: { pathspec: safeText(path, 120) },
  });
}

function areIgnored(ignored: readonly string[]) {
  return gitFailure(
    `Path is ignored by .gitignore: ${ignored
      .slice(0, 5)
      .map((name) => safeText(name, 120))
      .join(', ')}`,
    {
      path: 'paths',
      reason: 'ignored',
      next: 'leave it out, or pass force: true to stage it anyway',
      details: { paths: ignored.slice(0, 100).map((name) => safeText(name, 120)) },
    },
  );
}

function notStaged(stderr: string) {
  return gitFailure('Git add failed', {
    reason: 'git_failed',
    next: 'read the message of git in details.stderr',
    details: { stderr: stderr.slice(0, 4000) },
  });
}

function presentAdded({ added, paths: names }: z.output<typeof data>): ToolText {
  if (added === 0) return { head: 'nothing to stage: the index has these files already' };
  return { head: `staged ${counted(added, 'path')}`, parts: [{ type: 'text', text: names.map(shownName) }] };
}
