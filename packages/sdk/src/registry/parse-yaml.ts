/**
 * Registry text → plain JSON value and the place of every key, under hard limits: 64 KiB, one document, depth 32,
 * no directives. What the tree may hold (tags, aliases, keys) is checked in read-yaml-tree.ts.
 *
 * The token stages of the library are driven by hand, because nesting must be refused while it is being read: deep
 * brackets cost seconds later. The library's own unique-key check is quadratic and is switched off for the same reason.
 */
import { type JsonValue, utf8Length } from '@tool-runtime/protocol';
import {
  Composer,
  type CST,
  type Document,
  isScalar,
  Lexer,
  LineCounter,
  Parser,
  Scalar,
  visit,
  type YAMLError,
} from 'yaml';
import { MAX_REGISTRY_BYTES, type Place, type Places, type RegistryProblem } from './problems.ts';
import { MAX_DEPTH, readYamlTree } from './read-yaml-tree.ts';

interface ParsedYaml {
  /** Undefined when the text cannot be read at all; `problems` then says why. */
  readonly value: JsonValue | undefined;
  readonly places: Places;
  readonly problems: readonly RegistryProblem[];
  readonly warnings: readonly RegistryProblem[];
}

type Locator = (offset: number) => Place;

interface Tokens {
  readonly tokens: readonly CST.Token[];
  readonly placeOf: Locator;
  readonly problem: RegistryProblem | undefined;
}

function problemAt(place: Place, message: string): RegistryProblem {
  return { line: place.line, column: place.column, path: '', message };
}

function unreadable(problems: readonly RegistryProblem[]): ParsedYaml {
  return { value: undefined, places: new Map(), problems, warnings: [] };
}

function readTokens(text: string): Tokens {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const placeOf: Locator = (offset) => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme));
    // The stack also holds the document and the scalar being read.
    if (parser.stack.length > MAX_DEPTH + 2) {
      const problem = problemAt(placeOf(parser.offset), `Nesting is too deep: more than ${MAX_DEPTH} levels`);
      return { tokens: [], placeOf, problem };
    }
  }
  tokens.push(...parser.end());
  return { tokens, placeOf, problem: streamProblem(tokens, placeOf) };
}

/** A directive could switch the YAML version, and with it what `yes` and `<<` mean. */
function streamProblem(tokens: readonly CST.Token[], placeOf: Locator): RegistryProblem | undefined {
  const directive = tokens.find((token) => token.type === 'directive');
  if (directive !== undefined) return problemAt(placeOf(directive.offset), 'YAML directives are not allowed');
  const second = tokens.filter((token) => token.type === 'document')[1];
  if (second !== undefined) return problemAt(placeOf(second.offset), 'More than one document: a registry must be one');
  return undefined;
}

function compose(tokens: readonly CST.Token[], length: number): Document.Parsed | undefined {
  const composer = new Composer({
    uniqueKeys: false,
    stringKeys: true,
    merge: false,
    resolveKnownTags: false,
    prettyErrors: false,
    keepSourceTokens: true,
    logLevel: 'silent',
  });
  return [...composer.compose(tokens, true, length)][0];
}

/** An escaped quote and an escaped line end have no literal reading and stay. */
function doubleBackslashes(source: string): string {
  return source.replace(/\\(\r?\n|[\s\S])/g, (pair, next: string) => {
    if (next === '"' || next.endsWith('\n')) return pair;
    return next === '\\' ? '\\\\\\\\' : `\\\\${next}`;
  });
}

/** Whether invalid escapes are the only kind of failure. */
function canReadLiterally(errors: readonly YAMLError[]): boolean {
  return errors.length > 0 && errors.every((error) => error.code === 'BAD_DQ_ESCAPE');
}

/**
 * Double-quoted patterns such as "^cargo(\s|$)" are not YAML, yet the registry format is documented with them.
 *
 * Only a scalar that holds an escape YAML does not know is changed: every backslash in it is taken literally, so that
 * `\s` and `\b` of one pattern have the same meaning. Valid scalars elsewhere keep their YAML meaning. The tokens are
 * changed in place, not the text, so every position stays the one the author sees. Composing the same tokens again gives
 * the intended text. Returns the offsets of the scalars.
 */
function readLiterally(document: Document.Parsed, errors: readonly YAMLError[]): readonly number[] {
  const failed = errors.map((error) => error.pos[0]).toSorted((left, right) => left - right);
  let next = 0;
  const changed: number[] = [];
  visit(document, {
    Scalar(_key, node) {
      const token = isScalar(node) ? node.srcToken : undefined;
      if (token === undefined || node.type !== Scalar.QUOTE_DOUBLE || !('source' in token)) return;
      const end = token.offset + token.source.length;
      // Scalars are visited in the order of the text, so one pass over the failures serves all of them.
      while ((failed[next] ?? end) < token.offset) next++;
      if ((failed[next] ?? end) >= end) return;
      token.source = doubleBackslashes(token.source);
      changed.push(token.offset);
    },
  });
  return changed;
}

/** Some of the library's sentences repeat all of the text they are about. */
const MAX_SENTENCE = 160;

function shortened(sentence: string): string {
  return sentence.length > MAX_SENTENCE ? `${sentence.slice(0, MAX_SENTENCE - 3).toWellFormed()}...` : sentence;
}

function syntaxProblems(errors: readonly YAMLError[], placeOf: Locator): readonly RegistryProblem[] {
  return errors.map((error) => problemAt(placeOf(error.pos[0]), `Not valid YAML: ${shortened(error.message)}`));
}

/** Never throws. All problems of the text come back at once. */
export function parseYaml(text: string): ParsedYaml {
  if (utf8Length(text) > MAX_REGISTRY_BYTES) {
    return unreadable([problemAt({ line: 1, column: 1 }, `Registry is larger than ${MAX_REGISTRY_BYTES} bytes`)]);
  }
  const { tokens, placeOf, problem } = readTokens(text);
  if (problem !== undefined) return unreadable([problem]);

  let document = compose(tokens, text.length);
  const warnings: RegistryProblem[] = [];
  if (document !== undefined && canReadLiterally(document.errors)) {
    for (const offset of readLiterally(document, document.errors)) {
      const message =
        'Invalid escape in double quotes: its backslashes are read literally; write the pattern in single quotes';
      warnings.push(problemAt(placeOf(offset), message));
    }
    document = compose(tokens, text.length);
  }
  if (document === undefined || (document.contents === null && document.errors.length === 0)) {
    return unreadable([problemAt({ line: 1, column: 1 }, 'Registry is empty: write version: 1 first')]);
  }
  const tree = readYamlTree(document, placeOf);
  const syntax = syntaxProblems(document.errors, placeOf);
  const problems = [...syntax, ...tree.problems];
  return { value: syntax.length > 0 ? undefined : tree.value, places: tree.places, problems, warnings };
}
