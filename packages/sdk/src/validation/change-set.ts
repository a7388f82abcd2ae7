/** Builds what rules look at, from git, for each scope. Everything is named by hash, so it cannot change underneath. */
import { isToolError } from '@tool-runtime/protocol';
import type {
  ChangedFile,
  ChangeScope,
  ChangeSet,
  CommitCandidate,
  FrozenIndex,
  GitRepository,
} from '../contracts/git.ts';
import type { Workspace } from '../contracts/workspace.ts';
import { diffTrees } from '../git/diff-trees.ts';
import { currentBranch, headCommit, readLooseObject } from '../git/head-commit.ts';
import { parseRawDiff } from '../git/parse-diff.ts';
import { readBatch, readBatchCheck } from '../git/read-batch.ts';
import { emptyTree, findObjects, resolveRevision, unknownRevision } from '../git/resolve-revisions.ts';
import { BY_OBJECTS, rangeInput, trackedCommits } from './added-commits.ts';
import { folderChanges } from './folder-changes.ts';
import {
  addedLines,
  type DiffRun,
  readFiles,
  SHOWN_DIFFERENCES,
  worktreeFiles,
  worktreeLines,
} from './worktree-files.ts';

export interface ChangeSource {
  readonly git: GitRepository;
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
}

export interface Wanted {
  readonly scope: ChangeScope;
  readonly since?: string | undefined;
  readonly message?: string | undefined;
  /** What `staged` means: frozen, so that nothing more is staged while it is checked. */
  readonly candidate?: CommitCandidate | undefined;
  /** What `head` means for a push: another commit than HEAD perhaps, and what its remote has. */
  readonly publication?: PublishedRange | undefined;
}

export interface PublishedRange {
  readonly tip: string;
  /** Commits that are at the remote already. */
  readonly known: readonly string[];
  /** Name it will have there; undefined for a tag. */
  readonly branch: string | undefined;
}

export function buildChangeSet(wanted: Wanted, source: ChangeSource): Promise<ChangeSet> {
  if (wanted.scope === 'worktree') return worktreeChanges(wanted, source);
  return treeChanges(wanted, source);
}

async function treeChanges(wanted: Wanted, source: ChangeSource): Promise<ChangeSet> {
  const { git, signal } = source;
  const { publication } = wanted;
  const [branch, { base, tree, tip, against }] = await Promise.all([
    publication === undefined ? currentBranch(git) : publication.branch,
    sidesOf(wanted, source),
  ]);
  const range = publication ?? { tip, known: base === emptyTree(await git.config()) ? [] : [base] };
  const diff: DiffRun = (options, pathspecs) => ({
    words: ['diff-tree', '-r', '-M', ...options, base, tree, '--', ...pathspecs],
    access: 'read',
    signal,
  });
  const askGit = async () =>
    parseRawDiff((await git.run(diff(['-z', '--raw', '--no-abbrev'], []))).stdout.toString('utf8'));
  return {
    scope: wanted.scope,
    branch,
    message: wanted.message,
    base,
    tree,
    tip,
    files: (await diffTrees(git.files, base, tree)) ?? (await askGit()),
    contents: (files) => readBlobs(git, files, signal),
    addedLines: (files) => addedLines(git, diff, files),
    passing: () => passingContents(source, range),
    worktreeDifferences: () => worktreeDifferences(source, against),
  };
}

/** Everything the commits of a range ever held, in each of them against its parents. */
async function passingContents(
  { git, signal }: ChangeSource,
  { tip, known }: { readonly tip: string | undefined; readonly known: readonly string[] },
): Promise<readonly ChangedFile[]> {
  if (tip === undefined) return [];
  const words = ['log', '--format=', '-m', '--raw', '-z', '--no-abbrev', '--no-renames', '--diff-filter=AMT'];
  const { stdout } = await git.run({
    words: [...words, '--stdin'],
    access: 'read',
    stdin: rangeInput(tip, known),
    env: BY_OBJECTS,
    signal,
  });
  return parseRawDiff(stdout.toString('utf8'));
}

interface Sides {
  readonly base: string;
  readonly tree: string;
  readonly tip: string | undefined;
  /** What the work tree is compared with. */
  readonly against: Against;
}

/** One of the two. */
interface Against {
  readonly tree?: string;
  readonly index?: FrozenIndex;
}

async function sidesOf(wanted: Wanted, source: ChangeSource): Promise<Sides> {
  const { git } = source;
  const nothing = emptyTree(await git.config());
  const { candidate } = wanted;
  if (candidate !== undefined) {
    const head = await headCommit(git);
    return { base: head?.tree ?? nothing, tree: candidate.tree, tip: undefined, against: { index: candidate.index } };
  }
  if (wanted.publication !== undefined) return publishedSides(git, wanted.publication, nothing);
  const [[tree, head, parent], since] = await Promise.all([
    findObjects(git, ['HEAD^{tree}', 'HEAD', 'HEAD~1']),
    wanted.since === undefined ? upstreamCommit(git) : resolveRevision(git, wanted.since, 'since'),
  ]);
  if (tree === undefined || head === undefined)
    return { base: nothing, tree: nothing, tip: undefined, against: { tree: nothing } };
  const base = since === undefined ? await publishedCommit(git, head) : await forkPoint(git, since, head);
  return { base: base ?? parent ?? nothing, tree, tip: head, against: { tree } };
}

/** By itself, because a batch of questions ends where this one has no answer. */
async function upstreamCommit(git: GitRepository): Promise<string | undefined> {
  const words = ['rev-parse', '--verify', '--quiet', '@{upstream}^{commit}'];
  const { code, stdout } = await git.run({ words, access: 'read', accept: [0, 1, 128] });
  return code === 0 ? stdout.toString('utf8').trim() : undefined;
}

async function publishedSides(git: GitRepository, { tip, known }: PublishedRange, nothing: string): Promise<Sides> {
  const [base, [tree]] = await Promise.all([forkFromKnown(git, tip, known), findObjects(git, [`${tip}^{tree}`])]);
  if (tree === undefined) throw unknownRevision(tip, 'ref');
  return { base: base ?? nothing, tree, tip, against: { tree } };
}

/** The newest commit on the way back from HEAD that some remote is known to have; undefined when none has any. */
async function publishedCommit(git: GitRepository, head: string): Promise<string | undefined> {
  return forkFromKnown(git, head, await trackedCommits(git));
}

/** The newest commit on the straight way back from `tip` that is known; undefined when there is none. */
async function forkFromKnown(git: GitRepository, tip: string, known: readonly string[]): Promise<string | undefined> {
  const { stdout } = await git.run({
    words: ['rev-list', '--first-parent', '--stdin'],
    access: 'read',
    stdin: rangeInput(tip, known),
    env: BY_OBJECTS,
  });
  const oldest = stdout.toString('utf8').trim().split('\n').at(-1) ?? '';
  return oldest === '' ? tip : (await findObjects(git, [`${oldest}~1`]))[0];
}

/** Where the history of HEAD left that of `since`; `since` itself when they share none. */
async function forkPoint(git: GitRepository, since: string, head: string): Promise<string> {
  const { code, stdout } = await git.run({ words: ['merge-base', since, head], access: 'read', accept: [0, 1] });
  return code === 0 ? stdout.toString('utf8').trim() : since;
}

const NO_REPOSITORY = Symbol('no repository');

async function branchOf(git: GitRepository): Promise<string | undefined | typeof NO_REPOSITORY> {
  try {
    return await currentBranch(git);
  } catch (thrown) {
    if (isToolError(thrown) && thrown.details['reason'] === 'no_repository') return NO_REPOSITORY;
    throw thrown;
  }
}

async function worktreeChanges(wanted: Wanted, source: ChangeSource): Promise<ChangeSet> {
  const branch = await branchOf(source.git);
  if (branch === NO_REPOSITORY) return folderChanges(wanted.message, source);
  const { head, files } = await worktreeFiles(source);
  return {
    scope: 'worktree',
    branch,
    message: wanted.message,
    base: head,
    tree: undefined,
    tip: undefined,
    files,
    contents: (chosen) => readFiles(chosen, source),
    addedLines: (chosen) => worktreeLines({ files, chosen }, source),
    passing: async () => [],
    worktreeDifferences: async () => changedSince(files, source),
  };
}

async function worktreeDifferences(
  { git, signal }: ChangeSource,
  { tree, index }: Against,
): Promise<readonly string[]> {
  const words = ['diff', '--name-only', '-z', '--no-ext-diff', '--no-renames', '--ignore-submodules=dirty'];
  const { stdout } = await git.run({
    words: [...words, ...(tree === undefined ? [] : [tree]), '--'],
    access: 'read',
    signal,
    ...(index === undefined ? {} : { index: await index.name() }),
  });
  return stdout.toString('utf8').split('\0').filter(Boolean).slice(0, SHOWN_DIFFERENCES);
}

/** Files that were there when the set was made, and are another content now. */
async function changedSince(files: readonly ChangedFile[], source: ChangeSource): Promise<readonly string[]> {
  const now = await worktreeFiles(source);
  const contents = new Map(now.files.map((file) => [file.path, contentOf(file)]));
  return files
    .filter((file) => file.kind !== 'added' && contents.get(file.path) !== contentOf(file))
    .map(({ path }) => path)
    .slice(0, SHOWN_DIFFERENCES);
}

function contentOf({ mode, blob, sha256 }: ChangedFile): string {
  return `${mode} ${blob ?? sha256 ?? ''}`;
}

const AT_ONCE_BYTES = 64 * 1024 * 1024;
const LARGEST = 512 * 1024 * 1024;
/** More are better read by git. */
const FEW = 32;
const LARGEST_LOOSE = 4 * 1024 * 1024;
const SUBMODULE = '160000';

interface Content {
  readonly file: ChangedFile;
  readonly bytes: Uint8Array;
}

/**
 * Contents of changed files from git's store. A few that lie there as files, as everything staged lately does, are read
 * at once; the others in one process where they fit, in several where they do not.
 */
export async function* readBlobs(
  git: GitRepository,
  files: readonly ChangedFile[],
  signal: AbortSignal,
): AsyncGenerator<Content> {
  const wanted = files.filter((file) => file.blob !== undefined && file.mode !== SUBMODULE);
  const loose = wanted.length > FEW ? [] : await readLoose(git, wanted);
  yield* loose;
  const left = wanted.filter((file) => !loose.some((one) => one.file === file));
  if (left.length === 0) return;
  const together = await readTogether(git, left, signal);
  if (together !== undefined) {
    yield* together;
    return;
  }
  for (const group of await groupBySize(git, left, signal)) {
    yield* (await readGroup(git, group, { signal, maxBytes: LARGEST })) ?? [];
  }
}

async function readLoose({ files }: GitRepository, wanted: readonly ChangedFile[]): Promise<readonly Content[]> {
  const found = await Promise.all(wanted.map(({ blob = '' }) => readLooseObject(files, blob, LARGEST_LOOSE)));
  return wanted.flatMap((file, at) => {
    const object = found[at];
    return object?.type === 'blob' ? [{ file, bytes: object.bytes }] : [];
  });
}

function readTogether(git: GitRepository, files: readonly ChangedFile[], signal: AbortSignal) {
  return readGroup(git, files, { signal, maxBytes: AT_ONCE_BYTES });
}

/** Undefined when they are too much for one answer. */
async function readGroup(
  git: GitRepository,
  files: readonly ChangedFile[],
  { signal, maxBytes }: { readonly signal: AbortSignal; readonly maxBytes: number },
): Promise<readonly Content[] | undefined> {
  const names = files.map(({ blob = '' }) => blob);
  try {
    const { stdout } = await git.run({
      words: ['cat-file', '--batch'],
      access: 'read',
      stdin: `${names.join('\n')}\n`,
      maxBytes,
      signal,
    });
    return matched(files, [...readBatch(stdout, names)]);
  } catch (thrown) {
    if (isToolError(thrown) && thrown.details['reason'] === 'too_large') return undefined;
    throw thrown;
  }
}

function matched(
  files: readonly ChangedFile[],
  objects: readonly { name: string; bytes: Buffer }[],
): readonly Content[] {
  const byName = new Map(objects.map(({ name, bytes }) => [name, bytes]));
  return files.flatMap((file) => {
    const bytes = byName.get(file.blob ?? '');
    return bytes === undefined ? [] : [{ file, bytes }];
  });
}

async function groupBySize(
  git: GitRepository,
  files: readonly ChangedFile[],
  signal: AbortSignal,
): Promise<readonly (readonly ChangedFile[])[]> {
  const names = files.map(({ blob = '' }) => blob);
  const stdin = `${names.join('\n')}\n`;
  const { stdout } = await git.run({ words: ['cat-file', '--batch-check'], access: 'read', stdin, signal });
  const sizes = readBatchCheck(stdout.toString('utf8'), names);
  const groups: ChangedFile[][] = [];
  let filled = AT_ONCE_BYTES;
  for (const [index, file] of files.entries()) {
    const size = sizes[index]?.size ?? 0;
    if (filled + size > AT_ONCE_BYTES / 2) {
      groups.push([]);
      filled = 0;
    }
    groups.at(-1)?.push(file);
    filled += size;
  }
  return groups;
}
