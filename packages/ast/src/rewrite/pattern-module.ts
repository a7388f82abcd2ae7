/**
 * The pattern matcher of ast-grep, running on our own grammars.
 *
 * Its package wants to be imported as a WebAssembly module, which Node announces with a warning, and to read grammars
 * from files; so it is put together here. It never frees a tree, so its parsers are made here and tell us of every tree. Its
 * glue code keeps one instance per module, hence a copy of the module for every matcher.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ToolError } from '@tool-runtime/protocol';
import { type Language, Parser, type Tree } from 'web-tree-sitter';

export interface PatternNode {
  range(): { readonly start: { readonly index: number }; readonly end: { readonly index: number } };
  findAll(matcher: PatternRule): readonly PatternNode[];
  getMatch(name: string): PatternNode | undefined;
  getMultipleMatches(name: string): readonly PatternNode[];
}

/** A pattern as part of other code. */
export interface Reading {
  readonly context: string;
  /** Kind of the node that is the pattern. */
  readonly selector: string;
}

export interface PatternRule {
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

export interface PatternModule {
  register(language: string, grammar: Language, expando: string): Promise<void>;
  /** Frees what `work` made; its nodes must not be used afterwards. */
  run<T>(work: (glue: Pick<GlueModule, 'parse' | 'dumpPattern'>) => T): T;
}

export async function loadPatternModule(): Promise<PatternModule> {
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
