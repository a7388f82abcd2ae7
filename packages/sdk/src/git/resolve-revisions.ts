/**
 * Turns what callers write into hashes. Names go to git on standard input, where nothing is an option, and only the
 * hash is passed on afterwards.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import type { GitConfig, GitRepository } from '../contracts/git.ts';
import { gitFailure } from './git-failure.ts';
import { readBatchCheck } from './read-batch.ts';
import { checkRevision } from './ref-names.ts';

export interface Question {
  /** As the caller wrote it. */
  readonly text: string;
  /** Argument it came in, for messages. */
  readonly argument: string;
  readonly type?: 'commit' | 'tree';
}

type Runner = Pick<GitRepository, 'run'>;

const EMPTY_SHA1 = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const EMPTY_SHA256 = '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321';

interface RevisionRange {
  readonly from: string;
  readonly to: string;
  /** Three dots: what both have in common plays a part. */
  readonly symmetric: boolean;
}

/** Throws E_GIT naming the first invalid revision. */
export async function resolveRevisions(git: Runner, questions: readonly Question[]): Promise<readonly string[]> {
  const found = await findObjects(
    git,
    questions.map(({ text, argument, type = 'commit' }) => `${checkRevision(text, argument)}^{${type}}`),
  );
  return questions.map((question, index) => found[index] ?? unknown(question));
}

export async function resolveRevision(git: Runner, text: string, argument: string): Promise<string> {
  const [hash] = await resolveRevisions(git, [{ text, argument }]);
  return hash ?? unknown({ text, argument });
}

/** Undefined for unknown names. The names must be on one line each. */
export async function findObjects(git: Runner, names: readonly string[]): Promise<readonly (string | undefined)[]> {
  const { stdout } = await git.run({
    words: ['cat-file', '--batch-check'],
    access: 'read',
    stdin: `${names.join('\n')}\n`,
  });
  return readBatchCheck(stdout.toString('utf8'), names).map(({ hash }) => hash);
}

function unknown({ text, argument }: Question): never {
  throw unknownRevision(text, argument);
}

export function unknownRevision(text: string, argument: string): ToolError {
  return gitFailure(`Revision not found: ${safeText(text, 120)}`, {
    path: argument,
    reason: 'unknown_revision',
    next: 'name a branch, tag or commit that exists; git_branch lists branches, git_fetch brings those of a remote',
  });
}

/** The tree without entries, which every repository has. It depends on the repository's kind of hash. */
export function emptyTree(config: GitConfig): string {
  return config.get('extensions.objectformat')?.toLowerCase() === 'sha256' ? EMPTY_SHA256 : EMPTY_SHA1;
}

export function isEmptyTree(hash: string): boolean {
  return hash === EMPTY_SHA1 || hash === EMPTY_SHA256;
}

/** `a..b` and `a...b` taken apart as git does it: a side that is left out is HEAD. */
export function parseRange(text: string): RevisionRange | undefined {
  const at = text.indexOf('..');
  if (at < 0) return undefined;
  const symmetric = text.startsWith('...', at);
  return { from: text.slice(0, at) || 'HEAD', to: text.slice(at + (symmetric ? 3 : 2)) || 'HEAD', symmetric };
}
