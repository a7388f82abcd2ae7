/**
 * The lines a diff adds, of all files or of chosen ones.
 *
 * Attributes of a repository can call any file binary, and git then shows none of its lines: of files that a caller chose,
 * because it has seen that they are text, git is told to show them all the same.
 */
import type { AddedLine, ChangedFile, GitRepository, GitRun } from '../contracts/git.ts';
import { parseAddedLines } from '../git/parse-added-lines.ts';
import { literalPathspec } from '../git/pathspec.ts';

/** A diff with these further options, of these pathspecs only; without any, of everything. */
export type DiffRun = (options: readonly string[], pathspecs: readonly string[]) => GitRun;

const OPTIONS = [
  '-p',
  '-U0',
  '--inter-hunk-context=0',
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];
const FILES_PER_RUN = 500;

export async function addedLines(
  git: GitRepository,
  diff: DiffRun,
  files: readonly ChangedFile[] | undefined,
): Promise<readonly AddedLine[]> {
  // A name that is not UTF-8 was read with a stand-in and cannot be given back to git.
  if (files === undefined || files.some(({ path }) => path.includes('\uFFFD')))
    return readLines(git, diff(OPTIONS, []));
  const added: AddedLine[][] = [];
  for (let at = 0; at < files.length; at += FILES_PER_RUN) {
    // Without its former name a renamed file would look new from the first line to the last.
    const names = files
      .slice(at, at + FILES_PER_RUN)
      .flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]));
    added.push(await readLines(git, diff([...OPTIONS, '--text'], names.map(literalPathspec))));
  }
  return added.flat();
}

async function readLines(git: GitRepository, run: GitRun): Promise<AddedLine[]> {
  const { stdout } = await git.run(run);
  return [...parseAddedLines(stdout.toString('utf8'))];
}
