/**
 * Loads vendored grammars, each behind the gate and at most once.
 *
 * Loads run one after another: several at once make V8 optimise several modules at once, and every load waits.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { isToolError } from '@tool-runtime/protocol';
import { Language, Parser } from 'web-tree-sitter';
import { checkModule } from './check-module.ts';
import { forgetFailed } from './forget-failed.ts';
import { type GrammarLock, readGrammarLock } from './grammar-lock.ts';
import { readModule } from './read-module.ts';
import { refuseGrammar } from './refuse-grammar.ts';

const OLDEST_ABI = 13;
const NEWEST_ABI = 15;

export interface GrammarStore {
  readonly lock: GrammarLock;
  /** Throws E_AST_PARSE with a `reason` when the grammar does not pass the gate; a refusal is remembered. */
  load(grammar: string): Promise<Language>;
}

/** Folder of the package's grammars, from `src` as well as from `dist`. */
export const GRAMMARS_FOLDER: URL = new URL('../../grammars/', import.meta.url);

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
      loaded.set(
        grammar,
        forgetUnread(started, () => loaded.delete(grammar)),
      );
      return started;
    },
  };
}

/** What could not be read for want of a descriptor can be read next time; what does not pass the gate never will. */
function forgetUnread(loading: Promise<Language>, forget: () => void): Promise<Language> {
  return forgetFailed(loading, (thrown) => {
    if (!isToolError(thrown) || thrown.details['reason'] === 'unreadable') forget();
  });
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
