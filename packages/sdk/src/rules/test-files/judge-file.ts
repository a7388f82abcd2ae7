/** What a changed file is to the question whether code comes with tests. */
import { basename, dirname, extname, join } from 'node:path/posix';
import { compileGlobs, type GlobTest } from '../../glob/match-glob.ts';
import { NO_CODE, SOURCE_LANGUAGES, type SourceLanguage, TEST_FOLDERS } from './source-languages.ts';

export interface JudgedFile {
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
