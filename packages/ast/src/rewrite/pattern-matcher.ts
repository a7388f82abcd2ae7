/** Finds the matches of a code pattern in a text. Loaded when first used. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type JsonObject, ToolError } from '@tool-runtime/protocol';
import { once } from '@tool-runtime/protocol/internal';
import { type Language, Parser, type Tree } from 'web-tree-sitter';
import type { ParsedSource, SourceParser } from '../parse/source-parser.ts';
import { decodeSource } from '../parse/source-text.ts';
import type { Engine } from '../symbols/engine.ts';

export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** Offsets are UTF-16 units. */
export interface PatternMatch extends TextRange {
  /** What each `$NAME` matched; for `$$$NAME` from the first to the last, undefined for none. */
  readonly captures: ReadonlyMap<string, TextRange | undefined>;
}

export interface PatternQuery {
  readonly language: string;
  readonly pattern: string;
  readonly constraints: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface PatternMatcher {
  /** Throws E_AST_EDIT with `bad_pattern`. In file order, outer before inner. */
  match(text: string, query: PatternQuery): Promise<readonly PatternMatch[]>;
}

export interface Variable {
  readonly name: string;
  readonly isMany: boolean;
}

const VARIABLE = /\$(\$\$)?([A-Z_][A-Z0-9_]*)/g;

/** Names that a pattern or replacement mentions; `$_` matches anything. */
export function variablesOf(text: string): readonly Variable[] {
  const found = [...text.matchAll(VARIABLE)].map(([, many, name = '']) => ({ name, isMany: many !== undefined }));
  return found.filter(({ name }) => !/^_/.test(name));
}

/** What patterns of a language need. */
export interface PatternHabits {
  /** Stands for `$` where `$` cannot begin a name. */
  readonly expando: string;
  /** Code with `{}` in the place of the pattern: grammars read some code differently when it is alone. */
  readonly contexts: readonly string[];
}

export function createPatternMatcher(engine: Engine, habitsOf: (language: string) => PatternHabits): PatternMatcher {
  const load = once(loadPatternModule);
  const registered = new Map<string, () => Promise<void>>();

  async function register(module: PatternModule, language: string): Promise<void> {
    const parser = await engine.parserFor(language);
    const parsed = parser.parse(decodeSource(new Uint8Array(), ''));
    try {
      await module.register(language, parsed.tree.language, habitsOf(language).expando);
    } finally {
      parsed.delete();
    }
  }

  return {
    async match(text, query) {
      const module = await load();
      const { language } = query;
      const ready = registered.get(language) ?? once(() => register(module, language));
      registered.set(language, ready);
      await ready();
      const parser = await engine.parserFor(query.language);
      const readings = readingsOf(query.pattern, parser, habitsOf(query.language));
      return module.run((glue) => matchIn(glue, text, query, readings));
    },
  };
}

type Glue = Parameters<Parameters<PatternModule['run']>[0]>[0];

function matchIn(glue: Glue, text: string, query: PatternQuery, readings: readonly Reading[]): readonly PatternMatch[] {
  const { language, pattern, constraints } = query;
  const found = new Map<string, PatternMatch>();
  try {
    const isCode = !isBroken(glue.dumpPattern(language, pattern));
    if (!isCode && readings.length === 0) throw badPattern(pattern, 'it is not a complete piece of code');
    const root = glue.parse(language, text).root();
    for (const reading of isCode ? [pattern, ...readings] : readings) {
      const matches = read(root.findAll({ rule: { pattern: reading }, constraints }), pattern).map((match) =>
        withoutEnd(match, text, pattern),
      );
      for (const match of matches)
        found.set(`${match.start}:${match.end}`, found.get(`${match.start}:${match.end}`) ?? match);
    }
  } catch (thrown) {
    if (thrown instanceof ToolError) throw thrown;
    throw badPattern(pattern, thrown instanceof Error ? thrown.message : 'not accepted');
  }
  return [...found.values()].sort((left, right) => left.start - right.start || right.end - left.end);
}

/** The pattern inside of its contexts, where it is one node that parses. */
function readingsOf(pattern: string, parser: SourceParser, { expando, contexts }: PatternHabits): readonly Reading[] {
  const named = pattern.replace(/\$(\$\$)?(?=[A-Z_])/g, (dollars) => expando.repeat(dollars.length));
  return contexts.flatMap((context) => {
    const [before = '', after = ''] = context.split('{}');
    const parsed = parser.parse(decodeSource(Buffer.from(before + named + after), ''));
    try {
      const selector = kindAt(parsed, before.length, before.length + named.length);
      return selector === undefined ? [] : [{ context: before + pattern + after, selector }];
    } finally {
      parsed.delete();
    }
  });
}

/** Of the innermost node with exactly this range. */
function kindAt({ tree }: ParsedSource, start: number, end: number): string | undefined {
  if (tree.rootNode.hasError) return undefined;
  const node = tree.rootNode.namedDescendantForIndex(start, end - 1);
  return node !== null && node.startIndex === start && node.endIndex === end ? node.type : undefined;
}

function read(nodes: readonly PatternNode[], pattern: string): readonly PatternMatch[] {
  const variables = variablesOf(pattern);
  return nodes.map((node) => {
    const captures = variables.map(({ name, isMany }) => [name, isMany ? many(node, name) : one(node, name)] as const);
    return { ...place(node), captures: new Map(captures) };
  });
}

function place(node: PatternNode): TextRange {
  const { start, end } = node.range();
  return { start: start.index, end: end.index };
}

function one(node: PatternNode, name: string): TextRange | undefined {
  const found = node.getMatch(name);
  return found === undefined ? undefined : place(found);
}

function many(node: PatternNode, name: string): TextRange | undefined {
  const found = node.getMultipleMatches(name);
  const [first, last] = [found[0], found.at(-1)];
  return first === undefined || last === undefined ? undefined : { start: place(first).start, end: place(last).end };
}

/** A semicolon that the pattern does not have stays where it is. */
function withoutEnd(match: PatternMatch, text: string, pattern: string): PatternMatch {
  const hasMore = text[match.end - 1] === ';' && !pattern.trimEnd().endsWith(';');
  return hasMore ? { ...match, end: match.end - 1 } : match;
}

interface Dumped {
  readonly kind: string;
  readonly children?: readonly unknown[];
}

/** A pattern that is no code matches by chance or never. */
function isBroken(node: Dumped): boolean {
  return node.kind === 'ERROR' || (node.children ?? []).some((child) => isBroken(child as Dumped));
}

function badPattern(pattern: string, why: string): ToolError {
  const details: JsonObject = {
    reason: 'bad_pattern',
    why: why.slice(0, 300),
    next: 'write the pattern as valid code',
  };
  const shown = pattern.length > 80 ? `${pattern.slice(0, 80)}…` : pattern;
  return new ToolError('E_AST_EDIT', `Pattern is not accepted: ${shown}`, { path: 'pattern', details });
}

interface PatternNode {
  range(): { readonly start: { readonly index: number }; readonly end: { readonly index: number } };
  findAll(matcher: PatternRule): readonly PatternNode[];
  getMatch(name: string): PatternNode | undefined;
  getMultipleMatches(name: string): readonly PatternNode[];
}

/** A pattern as part of other code. */
interface Reading {
  readonly context: string;
  /** Kind of the node that is the pattern. */
  readonly selector: string;
}

interface PatternRule {
  readonly rule: { readonly pattern: string | Reading };
  readonly constraints?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

interface GlueModule {
  initializeTreeSitter(): Promise<void>;
  registerDynamicLanguage(languages: Readonly<Record<string, object>>): Promise<void>;
  parse(language: string, text: string): { root(): PatternNode };
  dumpPattern(language: string, pattern: string): { readonly kind: string; readonly children?: readonly unknown[] };
  __wbg_set_wasm(exports: object): void;
}

interface WebAssemblyApi {
  readonly Module: { new (bytes: Uint8Array): object; imports(module: object): readonly { readonly name: string }[] };
  readonly Instance: { new (module: object, imports: object): { readonly exports: GlueExports } };
}

interface GlueExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  __wbindgen_start(): void;
}

interface PatternModule {
  register(language: string, grammar: Language, expando: string): Promise<void>;
  /** Frees what `work` made; its nodes must not be used afterwards. */
  run<T>(work: (glue: Pick<GlueModule, 'parse' | 'dumpPattern'>) => T): T;
}

/**
 * The pattern matcher of ast-grep, running on our own grammars.
 *
 * Its package wants to be imported as a WebAssembly module, which Node announces with a warning, and to read grammars
 * from files; so it is put together here. It never frees a tree, so its parsers are made here and tell us of every tree. Its
 * glue code keeps one instance per module, hence a copy of the module for every matcher.
 */
async function loadPatternModule(): Promise<PatternModule> {
  const entry = import.meta.resolve('@ast-grep/wasm');
  const glue = (await import(new URL(`wasm_bg.js?copy=${randomUUID()}`, entry).href)) as GlueModule;
  const { Module, Instance } = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;
  const module = new Module(readFileSync(new URL('wasm_bg.wasm', entry)));
  const grammars = new Map<string, Language>();
  const trees: Tree[] = [];
  class RecordingParser extends Parser {
    override parse(...given: Parameters<Parser['parse']>): Tree | null {
      const tree = super.parse(...given);
      if (tree !== null) trees.push(tree);
      return tree;
    }
  }
  let exports: GlueExports | undefined;
  const load = (start: number, length: number): Promise<Language | undefined> => {
    const name = new TextDecoder().decode(new Uint8Array(exports?.memory.buffer ?? new ArrayBuffer(0), start, length));
    return Promise.resolve(grammars.get(name));
  };
  const names = Module.imports(module).map(({ name }) => name);
  exports = new Instance(module, {
    './wasm_bg.js': {
      ...glue,
      [only(names, '__wbg_load_')]: load,
      [only(names, '__wbg___new_')]: () => new RecordingParser(),
    },
  }).exports;
  glue.__wbg_set_wasm(exports);
  exports.__wbindgen_start();
  await glue.initializeTreeSitter();
  return {
    async register(language, grammar, expando) {
      grammars.set(language, grammar);
      await glue.registerDynamicLanguage({ [language]: { libraryPath: language, expandoChar: expando } });
    },
    run(work) {
      try {
        return work(glue);
      } finally {
        for (const tree of trees.splice(0)) tree.delete();
      }
    },
  };
}

/** Names of imports end in a hash that changes with every release. */
function only(names: readonly string[], start: string): string {
  const found = names.filter((name) => name.startsWith(start));
  if (found.length === 1 && found[0] !== undefined) return found[0];
  throw new ToolError('E_INTERNAL', 'Pattern matcher does not fit: @ast-grep/wasm', {
    details: { kind: 'host_configuration_needed', retry: 'host_configuration_needed', reason: 'unknown_release' },
  });
}
