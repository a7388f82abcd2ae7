/** Which changed files are code that came without any test. */
import { basename, dirname, extname, join } from 'node:path/posix';
import type { AddedLine, ChangedFile, ChangeSet } from '../contracts/git.ts';
import { compileGlobs, type GlobTest } from '../glob/match-glob.ts';

/**
 * Which files are code, and by which names their tests go, language by language.
 *
 * Globs name tests wherever they are; `{name}` in `example` is the changed file's name without its extension.
 */
interface SourceLanguage {
  readonly extensions: readonly string[];
  readonly tests: readonly string[];
  /** A test file that would count, beside the changed file unless it begins with a slash (the root). */
  readonly example: string;
  /** A line that makes a test inside the source itself. */
  readonly inline?: RegExp;
}

const SCRIPT = 'ts,tsx,mts,cts,js,jsx,mjs,cjs,vue,svelte,astro';
const CPP = 'c,cc,cpp,cxx,h,hh,hpp,hxx,m,mm,cu';

const SOURCE_LANGUAGES: readonly SourceLanguage[] = [
  language(SCRIPT, [`**/*.{test,spec,cy,e2e}.{${SCRIPT}}`, `**/*-{test,spec}.{${SCRIPT}}`], '{name}.test{extension}'),
  language('py', ['**/test_*.py', '**/*_test.py', '**/conftest.py'], 'test_{name}.py'),
  language('go', ['**/*_test.go'], '{name}_test.go'),
  {
    ...language('rs', ['**/tests.rs', '**/*_{test,tests}.rs', '**/test_*.rs'], '/tests/{name}.rs'),
    inline: /^\s*#\[(?:\w+::)*(?:test|rstest|test_case|quickcheck)\b/,
  },
  language('java', ['**/src/test/**', '**/*{Test,Tests,IT,TestCase}.java', '**/Test*.java'], '{name}Test.java'),
  language('kt,kts', ['**/src/*Test/**', '**/*{Test,Tests,Spec}.{kt,kts}'], '{name}Test.kt'),
  language('scala,sc', ['**/*{Test,Tests,Spec,Suite}.scala'], '{name}Spec.scala'),
  language('groovy', ['**/*{Test,Tests,Spec}.groovy'], '{name}Spec.groovy'),
  language('cs,fs,vb', ['**/*{Test,Tests}.{cs,fs,vb}', '**/*.{Test,Tests}/**'], '{name}Tests{extension}'),
  language('rb', ['**/*_{spec,test}.rb', '**/test_*.rb'], '{name}_spec.rb'),
  language('php', ['**/*Test.php', '**/*Cest.php'], '{name}Test.php'),
  language('swift', ['**/*{Test,Tests}.swift'], '{name}Tests.swift'),
  language(
    CPP,
    [`**/*{_test,_tests,_unittest,Test,Tests,.test}.{${CPP}}`, `**/test_*.{${CPP}}`],
    '{name}_test{extension}',
  ),
  language('dart', ['**/*_test.dart'], '/test/{name}_test.dart'),
  language('ex,exs', ['**/*_test.exs'], '/test/{name}_test.exs'),
  language('erl', ['**/*_{SUITE,tests}.erl'], '{name}_tests.erl'),
  language('hs', ['**/*{Spec,Test}.hs'], '{name}Spec.hs'),
  language('ml', ['**/test_*.ml', '**/*_test.ml'], 'test_{name}.ml'),
  language('clj,cljs,cljc', ['**/*_test.{clj,cljs,cljc}'], '{name}_test{extension}'),
  language('lua', ['**/*_{spec,test}.lua'], '{name}_spec.lua'),
  language('jl', ['**/runtests.jl', '**/*_test.jl'], '/test/{name}.jl'),
  { ...language('zig', ['**/*_test.zig'], '{name}_test.zig'), inline: /^\s*test\s+(?:"|\w+\s*\{|\{)/ },
];

/** Folders that hold tests in any language. */
const TEST_FOLDERS: readonly string[] = [
  '**/{test,tests,spec,specs,e2e,__tests__,testing,Test,Tests}/**',
  '**/src/test/**',
];

/** Named like code and holding none: declarations, and settings of tools. */
const NO_CODE: readonly string[] = ['**/*.d.{ts,mts,cts}', `**/*.config.{${SCRIPT}}`];

function language(extensions: string, tests: readonly string[], example: string): SourceLanguage {
  return { extensions: extensions.split(',').map((name) => `.${name}`), tests, example };
}

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
