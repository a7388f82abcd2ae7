/** The parsing engine as one object: detect, parse, read facts. One per thread; everything in it is made on first use. */
import type { FileFacts } from '../contracts/facts.ts';
import type { TimeLimitOptions } from '../parse/limits.ts';
import { createParsers, type ParsersOptions } from '../parse/parsers.ts';
import type { ParsedSource, ParseOptions, SourceParser } from '../parse/source-parser.ts';
import { decodeSource, type SourceText } from '../parse/source-text.ts';
import { createLanguageDetector, type DetectHints } from '../profile/detect-language.ts';
import { loadProfiles } from '../profile/load-profile.ts';
import { isTemplate, MAX_PARTS, PartText, withParts } from './embedded-parts.ts';
import { createFactReader, type FactReader } from './fact-reader.ts';
import type { EmbeddedPart } from './raw-facts.ts';
import { type Problems, readProblems } from './read-problems.ts';

export interface ParseRequest extends Omit<ParseOptions, 'path'> {
  /** Workspace-relative, forward slashes. */
  readonly path: string;
  readonly language: string;
  readonly bytes: Uint8Array;
}

export interface Engine {
  /** Language id, or undefined for a file in none of the known languages. */
  detect(path: string, hints?: DetectHints): string | undefined;
  parserFor(language: string): Promise<SourceParser>;
  /** The caller owns the answer and must `delete()` it. */
  parse(request: ParseRequest): Promise<ParsedSource>;
  /** Facts of a parse that stays the caller's. */
  facts(parsed: ParsedSource, path: string, options?: Omit<TimeLimitOptions, 'path'>): FileFacts;
  /** Where the file is broken, parts in other languages included. */
  problems(parsed: ParsedSource, path: string): Problems;
  /** Parse, read, free: for indexing. */
  index(request: ParseRequest): Promise<FileFacts>;
  delete(): Promise<void>;
}

export function createEngine(options: ParsersOptions = {}): Engine {
  const parsers = createParsers(options);
  const detector = createLanguageDetector(loadProfiles());
  const readers = new Map<SourceParser, FactReader>();
  /** Of the languages that may be inside of others: reading facts waits for nothing. */
  const embedded = new Map<string, SourceParser>();
  const prepared = new Set<SourceParser>();

  async function parserFor(language: string): Promise<SourceParser> {
    const parser = await parsers.parserFor(language);
    if (prepared.has(parser)) return parser;
    for (const other of embeddedLanguages(parser)) embedded.set(other, await parsers.parserFor(other));
    prepared.add(parser);
    return parser;
  }

  async function parse(request: ParseRequest): Promise<ParsedSource> {
    const { language, bytes, ...parseOptions } = request;
    const parser = await parserFor(language);
    return parser.parse(decodeSource(bytes, request.path), parseOptions);
  }

  function facts(parsed: ParsedSource, path: string, limits: Omit<TimeLimitOptions, 'path'> = {}): FileFacts {
    const { parser, source } = parsed;
    const reader = readers.get(parser) ?? createFactReader(parser);
    readers.set(parser, reader);
    let parts: readonly EmbeddedPart[] = [];
    const onParts = (found: readonly EmbeddedPart[]) => {
      parts = found.slice(0, MAX_PARTS);
    };
    const own = reader.read(parsed, path, { ...limits, onParts });
    if (parts.length === 0) return own;
    const read = parts.flatMap((part) => {
      const of = factsOfPart(part, source, path, limits);
      return of === undefined ? [] : [{ part, facts: of }];
    });
    return withParts(own, read, source, path);
  }

  function factsOfPart(
    part: EmbeddedPart,
    source: SourceText,
    path: string,
    limits: Omit<TimeLimitOptions, 'path'>,
  ): FileFacts | undefined {
    const inner = embedded.get(part.language)?.parse(new PartText(source, part), { ...limits, path });
    if (inner === undefined) return undefined;
    try {
      const read = facts(inner, path, limits);
      return isTemplate(source.text.slice(part.start, part.end)) ? { ...read, problems: [], problemCount: 0 } : read;
    } finally {
      inner.delete();
    }
  }

  return {
    detect: (path, hints) => detector.detect(path, hints),
    parserFor,
    parse,
    facts,
    problems: (parsed, path) =>
      embeddedLanguages(parsed.parser).length === 0 ? readProblems(parsed) : facts(parsed, path),
    async index(request) {
      const parsed = await parse(request);
      try {
        return facts(parsed, request.path, request);
      } finally {
        parsed.delete();
      }
    },
    delete: () => parsers.delete(),
  };
}

/** By what its query sets. */
function embeddedLanguages({ queries }: SourceParser): readonly string[] {
  return [...new Set(queries.symbols.setProperties.flatMap((properties) => properties?.['language'] ?? []))];
}
