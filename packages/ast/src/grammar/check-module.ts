/**
 * What a grammar's WebAssembly module must look like before the runtime links it.
 *
 * Linking a module of the old format, or one that wants functions the runtime lacks, fails much later and without a
 * readable message, or only when the missing function is called.
 */
import { type ModuleOutline, readModule } from './read-module.ts';
import { refuseGrammar } from './refuse-grammar.ts';

/** Reached only when the grammar itself is broken; the runtime answers them from JavaScript. */
const EXEMPT = new Set(['__assert_fail', 'abort']);

export function checkModule(grammar: string, wasm: Uint8Array, runtimeExports: ReadonlySet<string>): void {
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
