/** Which changed files are code that came without any test. */
import type { AddedLine, ChangedFile, ChangeSet } from '../../contracts/git.ts';
import { compileGlobs } from '../../glob/match-glob.ts';
import { exampleTest, type JudgedFile, judgeFile } from './judge-file.ts';

export interface Untested {
  readonly paths: readonly string[];
  /** Test files that would have counted, had they been changed too. */
  readonly wouldCount: readonly string[];
}

interface Candidate extends JudgedFile {
  readonly file: ChangedFile;
}

const NOT_A_FILE = new Set(['120000', '160000']);

export async function findUntested(changes: ChangeSet, testGlobs: readonly string[]): Promise<Untested> {
  const isListed = compileGlobs(testGlobs);
  const candidates = changes.files.filter(isThere).map((file) => ({ file, ...judgeFile(file.path, isListed) }));
  const sources = candidates.filter(({ language }) => language !== undefined);
  const needsTests = sources.some(({ kind }) => kind === 'code') && !candidates.some(isChangedFixture);
  const added = needsTests ? await changes.addedLines(sources.map(({ file }) => file)) : [];
  const paths = hasInlineTest(sources, added) ? [] : untestedPaths(sources, added);
  return { paths, wouldCount: [...new Set(paths.flatMap((path) => exampleTest(path) ?? []))] };
}

function isThere({ kind, mode }: ChangedFile): boolean {
  return kind !== 'unchanged' && kind !== 'deleted' && !NOT_A_FILE.has(mode);
}

/** A test that is no code, such as a recorded answer: its lines are nobody's business, and it may not have any. */
function isChangedFixture({ file, kind, language }: Candidate): boolean {
  return kind === 'test' && language === undefined && file.kind !== 'renamed';
}

function hasInlineTest(sources: readonly Candidate[], added: readonly AddedLine[]): boolean {
  const inlineOf = new Map(sources.map(({ file, language }) => [file.path, language?.inline]));
  return added.some(({ path, text }) => inlineOf.get(path)?.test(text) === true);
}

function untestedPaths(sources: readonly Candidate[], added: readonly AddedLine[]): readonly string[] {
  const grown = new Set(added.filter(({ text }) => text.trim() !== '').map(({ path }) => path));
  const changed = sources.filter(({ file }) => grown.has(file.path));
  if (changed.some(({ kind }) => kind === 'test')) return [];
  return changed.filter(({ kind }) => kind === 'code').map(({ file }) => file.path);
}
