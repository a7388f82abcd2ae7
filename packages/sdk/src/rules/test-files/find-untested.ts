/** Which changed files are code that came without any test. */

import { basename, dirname, extname, join } from 'node:path/posix';
import type { AddedLine, ChangedFile, ChangeSet } from '../../contracts/git.ts';
import { compileGlobs, type GlobTest } from '../../glob/match-glob.ts';
import { NO_CODE, SOURCE_LANGUAGES, type SourceLanguage, TEST_FOLDERS } from './source-languages.ts';

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

/** A test that is no code, such as a recorded answer: its lines are not checked, and it may not have any. */
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

interface JudgedFile {
  readonly kind: 'code' | 'test' | 'other';
  readonly language: SourceLanguage | undefined;
}

const BY_EXTENSION: ReadonlyMap<string, SourceLanguage> = new Map(
  SOURCE_LANGUAGES.flatMap((language) => language.extensions.map((extension) => [extension, language] as const)),
);
const isTestName = compileGlobs(SOURCE_LANGUAGES.flatMap(({ tests }) => tests));
const isInTestFolder = compileGlobs(TEST_FOLDERS);
const holdsNoCode = compileGlobs(NO_CODE);

/** `isListed`: the registry's own word on which files are tests, whatever they look like. */
export function judgeFile(path: string, isListed: GlobTest): JudgedFile {
  const language = BY_EXTENSION.get(extname(path));
  if (isListed(path)) return { kind: 'test', language };
  if (language === undefined) return { kind: 'other', language };
  if (isTestName(path) || isInTestFolder(path)) return { kind: 'test', language };
  return { kind: holdsNoCode(path) ? 'other' : 'code', language };
}

/** A file whose change would have counted. */
export function exampleTest(path: string): string | undefined {
  const extension = extname(path);
  const language = BY_EXTENSION.get(extension);
  if (language === undefined) return undefined;
  const name = language.example.replace('{name}', basename(path, extension)).replace('{extension}', extension);
  return name.startsWith('/') ? name.slice(1) : join(dirname(path), name);
}
