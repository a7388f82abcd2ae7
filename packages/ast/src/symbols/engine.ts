/** The parsing engine as one object: detect, parse, read facts. One per thread; everything in it is made on first use. */
import type { FileFacts } from '../contracts/facts.ts';
import { createParsers, type ParsersOptions } from '../parse/parsers.ts';
import type { ParsedSource, ParseOptions, SourceParser } from '../parse/source-parser.ts';
import { decodeSource } from '../parse/source-text.ts';
import type { TimeLimitOptions } from '../parse/time-limit.ts';
import { createLanguageDetector, type DetectHints } from '../profile/detect-language.ts';
import { loadProfiles } from '../profile/load-profile.ts';
import { createFactReader, type FactReader } from './fact-reader.ts';

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
  /** Parse, read, free: for indexing. */
  index(request: ParseRequest): Promise<FileFacts>;
  delete(): Promise<void>;
}

export function createEngine(options: ParsersOptions = {}): Engine {
  const parsers = createParsers(options);
  const detector = createLanguageDetector(loadProfiles());
  const readers = new Map<SourceParser, FactReader>();

  async function parse(request: ParseRequest): Promise<ParsedSource> {
    const { language, bytes, ...parseOptions } = request;
    const parser = await parsers.parserFor(language);
    return parser.parse(decodeSource(bytes, request.path), parseOptions);
  }

  function facts(parsed: ParsedSource, path: string, limits: Omit<TimeLimitOptions, 'path'> = {}): FileFacts {
    const { parser } = parsed;
    const reader = readers.get(parser) ?? createFactReader(parser);
    readers.set(parser, reader);
    return reader.read(parsed, path, limits);
  }

  return {
    detect: (path, hints) => detector.detect(path, hints),
    parserFor: (language) => parsers.parserFor(language),
    parse,
    facts,
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
