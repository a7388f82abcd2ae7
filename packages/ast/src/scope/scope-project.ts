/**
 * The files of one family of languages, each parsed and resolved by scope when first asked for, then kept as plain data:
 * no tree outlives its reading. Opened for one question; what changes on disk meanwhile is not seen.
 */
import { isToolError } from '@tool-runtime/protocol';
import type { ParsedSource, SourceParser } from '../parse/source-parser.ts';
import { decodeSource } from '../parse/source-text.ts';
import type { Engine } from '../symbols/engine.ts';
import { isGenerated } from '../symbols/is-generated.ts';
import { resolveScopes } from './resolve-scopes.ts';
import type { FileScopes, ProjectFiles } from './scope-model.ts';

export interface ProjectFile {
  readonly path: string;
  readonly scopes: FileScopes;
  /** The first place that does not parse, from 1. */
  readonly problem: { readonly line: number; readonly col: number } | undefined;
  readonly isGenerated: boolean;
}

export interface ScopeProject {
  readonly files: ProjectFiles;
  /** Files of the family, sorted. */
  readonly paths: readonly string[];
  /** Undefined for a file of another family, that is missing, or that cannot be parsed at all (see `unreadable`). */
  file(path: string): ProjectFile | undefined;
  /** Paths of the family whose bytes contain the text, not as a part of a longer name. */
  mentioning(text: string): readonly string[];
  /** Files met so far that are too large, binary or took too long. */
  readonly unreadable: ReadonlySet<string>;
  /** Files met so far, the unreadable not among them. */
  readonly read: ReadonlyMap<string, ProjectFile>;
}

export interface ProjectOptions {
  readonly files: ProjectFiles;
  readonly engine: Engine;
  readonly languages: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

export async function openScopeProject(options: ProjectOptions): Promise<ScopeProject> {
  const { files, engine, languages } = options;
  const languageOf = new Map<string, string>();
  for (const path of files.list()) {
    const language = engine.detect(path);
    if (language !== undefined && languages.includes(language)) languageOf.set(path, language);
  }
  const parsers = new Map<string, SourceParser>();
  for (const language of new Set(languageOf.values())) parsers.set(language, await engine.parserFor(language));
  return createProject(options, languageOf, parsers);
}

function createProject(
  { files, signal }: ProjectOptions,
  languageOf: ReadonlyMap<string, string>,
  parsers: ReadonlyMap<string, SourceParser>,
): ScopeProject {
  const paths = [...languageOf.keys()].sort();
  const read = new Map<string, ProjectFile>();
  const unreadable = new Set<string>();

  function load(path: string): ProjectFile | undefined {
    const parser = parsers.get(languageOf.get(path) ?? '');
    const bytes = parser === undefined ? undefined : files.read(path);
    if (parser === undefined || bytes === undefined) return undefined;
    try {
      return readFile(path, parser.parse(decodeSource(bytes, path), { path, ...(signal ? { signal } : {}) }));
    } catch (thrown) {
      // A file that cannot be parsed is for the caller to decide about; a cancelled call is over.
      if (!isToolError(thrown) || signal?.aborted === true) throw thrown;
      unreadable.add(path);
      return undefined;
    }
  }

  return {
    files,
    paths,
    read,
    unreadable,
    file(path) {
      const known = read.get(path);
      if (known !== undefined || unreadable.has(path)) return known;
      const file = load(path);
      if (file !== undefined) read.set(path, file);
      return file;
    },
    mentioning(text) {
      const wanted = Buffer.from(text);
      return paths.filter((path) => {
        const bytes = files.read(path);
        return bytes !== undefined && hasWord(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), wanted);
      });
    },
  };
}

function readFile(path: string, parsed: ParsedSource): ProjectFile {
  try {
    return {
      path,
      scopes: resolveScopes(parsed),
      problem: firstProblem(parsed),
      isGenerated: isGenerated(path, parsed.source.text),
    };
  } finally {
    parsed.delete();
  }
}

function firstProblem({ tree, parser }: ParsedSource): ProjectFile['problem'] {
  if (!tree.rootNode.hasError) return undefined;
  const [first] = parser.queries.problems.captures(tree.rootNode);
  const { row, column } = first?.node.startPosition ?? { row: 0, column: 0 };
  return { line: row + 1, col: column + 1 };
}

function hasWord(bytes: Buffer, word: Buffer): boolean {
  const isGlued = (at: number, edge: number | undefined) => isWordByte(bytes[at]) && isWordByte(edge);
  for (let at = bytes.indexOf(word); at !== -1; at = bytes.indexOf(word, at + 1)) {
    if (!isGlued(at - 1, word[0]) && !isGlued(at + word.length, word.at(-1))) return true;
  }
  return false;
}

/** Letters, digits, `_`, `$`; of a character outside ASCII nothing is known, so it may as well end a word. */
function isWordByte(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const isLetter = (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
  return isLetter || (byte >= 0x30 && byte <= 0x39) || byte === 0x5f || byte === 0x24;
}
