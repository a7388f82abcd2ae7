/**
 * Loads vendored grammars, each after the checks below and at most once.
 *
 * Loads run one after another: several at once make V8 optimise several modules at once, and every load waits.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import { Language, Parser } from 'web-tree-sitter';
import * as z from 'zod';
import { inPackage } from '../contracts/package-folder.ts';

const OLDEST_ABI = 13;
const NEWEST_ABI = 15;

export interface GrammarStore {
  readonly lock: GrammarLock;
  /** Throws E_AST_PARSE with a `reason` when the grammar does not pass the gate; a refusal is remembered. */
  load(grammar: string): Promise<Language>;
}

export const GRAMMARS_FOLDER: URL = inPackage('grammars/');

export function createGrammarStore(folder: URL = GRAMMARS_FOLDER): GrammarStore {
  const lock = readGrammarLock(folder);
  const loaded = new Map<string, Promise<Language>>();
  let queue: Promise<unknown> = Promise.resolve();
  let runtimeExports: ReadonlySet<string> | undefined;

  async function loadNow(grammar: string): Promise<Language> {
    await Parser.init();
    runtimeExports ??= readRuntimeExports();
    const wasm = readGrammar(folder, lock, grammar);
    checkModule(grammar, wasm, runtimeExports);
    const language = await Language.load(wasm);
    checkAbi(grammar, language.abiVersion, lock[grammar]?.abi);
    return language;
  }

  return {
    lock,
    load(grammar) {
      const known = loaded.get(grammar);
      if (known !== undefined) return known;
      const started = queue.then(() => loadNow(grammar));
      // The next load waits for this one, but does not share its fate.
      queue = started.catch(() => undefined);
      loaded.set(grammar, started);
      started.catch((thrown: unknown) => {
        // A file that could not be read for want of a descriptor can be read next time. A grammar that was refused cannot.
        if (!isToolError(thrown) || thrown.details['reason'] === 'unreadable') loaded.delete(grammar);
      });
      return started;
    },
  };
}

function readGrammar(folder: URL, lock: GrammarLock, grammar: string): Uint8Array {
  const entry = lock[grammar];
  if (entry === undefined) throw refuseGrammar(grammar, 'not_vendored', 'not in the lock file');
  const wasm = decompress(folder, grammar);
  if (hash('sha256', wasm) !== entry.sha256) {
    throw refuseGrammar(grammar, 'digest_mismatch', 'its bytes are not those of the lock file');
  }
  return wasm;
}

function decompress(folder: URL, grammar: string): Uint8Array {
  try {
    return brotliDecompressSync(readFileSync(new URL(`${grammar}.wasm.br`, folder)));
  } catch (cause) {
    throw refuseGrammar(grammar, 'unreadable', 'its file is missing or damaged', cause);
  }
}

function checkAbi(grammar: string, abi: number, expected: number | undefined): void {
  if (abi < OLDEST_ABI || abi > NEWEST_ABI) {
    throw refuseGrammar(grammar, 'abi_unsupported', `ABI ${abi} is outside ${OLDEST_ABI} to ${NEWEST_ABI}`);
  }
  if (abi !== expected) throw refuseGrammar(grammar, 'abi_unsupported', `ABI ${abi} is not the one of the lock file`);
}

/** Read from the runtime's own module: what it offers to grammars is not visible from JavaScript. */
function readRuntimeExports(): ReadonlySet<string> {
  const file = fileURLToPath(import.meta.resolve('web-tree-sitter/web-tree-sitter.wasm'));
  return new Set(readModule(readFileSync(file)).exports);
}

/** Reached only when the grammar itself is broken; the runtime answers them from JavaScript. */
const EXEMPT = new Set(['__assert_fail', 'abort']);

/**
 * What a grammar's WebAssembly module must look like before the runtime links it.
 *
 * Linking a module of the old format, or one that wants functions the runtime lacks, fails much later and without a
 * readable message, or only when the missing function is called.
 */
function checkModule(grammar: string, wasm: Uint8Array, runtimeExports: ReadonlySet<string>): void {
  const outline = outlineOf(grammar, wasm);
  if (!outline.isLinkable) throw refuseGrammar(grammar, 'no_dylink_section', 'no dylink.0 section');
  const own = new Set(outline.exports);
  const foreign = outline.wantedFunctions.find(
    (name) => !runtimeExports.has(name) && !own.has(name) && !EXEMPT.has(name),
  );
  if (foreign !== undefined) {
    throw refuseGrammar(grammar, 'foreign_import', `the runtime has no function ${foreign}`);
  }
}

function outlineOf(grammar: string, wasm: Uint8Array): ModuleOutline {
  try {
    return readModule(wasm);
  } catch (cause) {
    throw refuseGrammar(grammar, 'not_wasm', 'not a WebAssembly module', cause);
  }
}

const lockSchema = z.record(
  z.string(),
  z.object({
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    bytes: z.number().int().positive(),
    abi: z.number().int(),
    package: z.string(),
    version: z.string(),
    file: z.string(),
    license: z.string(),
  }),
);

/** The list of vendored grammars and their digests: what the loader may load, written by scripts/vendor-grammars.ts. */
type GrammarLock = z.infer<typeof lockSchema>;

/** `folder` is a directory URL that ends in a slash. */
function readGrammarLock(folder: URL): GrammarLock {
  return lockSchema.parse(JSON.parse(readFileSync(new URL('lock.json', folder), 'utf8')));
}

interface ModuleOutline {
  readonly exports: readonly string[];
  /** Names of functions it wants to be given. */
  readonly wantedFunctions: readonly string[];
  readonly isLinkable: boolean;
}

interface Entry {
  readonly module: string;
  readonly name: string;
  readonly kind: string;
}

/** Declared here because the compiler's library has it only together with the whole browser. */
interface WebAssemblyApi {
  readonly Module: {
    new (bytes: Uint8Array): object;
    exports(module: object): readonly Entry[];
    imports(module: object): readonly Entry[];
    customSections(module: object, name: string): readonly unknown[];
  };
}

/**
 * The outline of a WebAssembly module: enough to check it without running any of it.
 *
 * Throws what the engine throws for bytes that are no valid module.
 */
function readModule(bytes: Uint8Array): ModuleOutline {
  const { Module } = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;
  const module = new Module(bytes);
  return {
    exports: Module.exports(module).map((entry) => entry.name),
    wantedFunctions: Module.imports(module)
      .filter((entry) => entry.kind === 'function' || entry.module === 'GOT.func')
      .map((entry) => entry.name),
    isLinkable: Module.customSections(module, 'dylink.0').length > 0,
  };
}

type GrammarRefusal =
  | 'not_vendored'
  | 'unreadable'
  | 'digest_mismatch'
  | 'not_wasm'
  | 'no_dylink_section'
  | 'foreign_import'
  | 'abi_unsupported'
  | 'query_mismatch';

/** One form for every reason not to load a grammar: it names the grammar, and other languages go on. */
export function refuseGrammar(grammar: string, reason: GrammarRefusal, why: string, cause?: unknown): ToolError {
  return new ToolError('E_AST_PARSE', `Grammar refused, ${why}: ${grammar}`, {
    details: {
      reason,
      grammar,
      next: 'Reinstall @tool-runtime/ast; in the repository run scripts/vendor-grammars.ts',
    },
    ...(cause === undefined ? {} : { cause }),
  });
}
