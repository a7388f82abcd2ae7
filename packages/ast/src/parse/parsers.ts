/** The parsers of one thread, made on first use. A language that cannot be loaded is refused by name, others go on. */
import { ToolError } from '@tool-runtime/protocol';
import { LANGUAGE_IDS } from '../profile/catalog.ts';
import { type LoadedProfile, loadProfile } from '../profile/load-profile.ts';
import { createGrammarStore, type GrammarStore } from './grammar-store.ts';
import { createSourceParser, type SourceParser } from './source-parser.ts';

export interface Parsers {
  /** Throws E_AST_PARSE: unknown language, or a grammar that does not pass the gate. */
  parserFor(language: string): Promise<SourceParser>;
  /** Frees every parser; none may be used afterwards. */
  delete(): Promise<void>;
}

export interface ParsersOptions {
  readonly grammars?: GrammarStore;
  readonly loadProfile?: (id: string) => LoadedProfile;
  readonly languages?: readonly string[];
}

export function createParsers(options: ParsersOptions = {}): Parsers {
  const { grammars = createGrammarStore(), languages = LANGUAGE_IDS } = options;
  const load = options.loadProfile ?? ((id: string) => loadProfile(id));
  const made = new Map<string, Promise<SourceParser>>();

  async function make(language: string): Promise<SourceParser> {
    if (!languages.includes(language)) throw unknownLanguage(language, languages);
    const loaded = load(language);
    const { grammar } = loaded.profile;
    return createSourceParser(await grammars.load(grammar), loaded, grammars.lock[grammar]?.sha256 ?? '');
  }

  return {
    parserFor(language) {
      const known = made.get(language) ?? make(language);
      made.set(language, known);
      return known;
    },
    async delete() {
      for (const outcome of await Promise.allSettled(made.values())) {
        if (outcome.status === 'fulfilled') outcome.value.delete();
      }
      made.clear();
    },
  };
}

function unknownLanguage(language: string, languages: readonly string[]): ToolError {
  return new ToolError('E_AST_PARSE', `Unknown language: ${language}`, {
    details: { reason: 'unknown_language', language, next: `One of ${languages.join(', ')}` },
  });
}
