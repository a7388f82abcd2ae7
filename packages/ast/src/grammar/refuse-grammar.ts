/** One form for every reason not to load a grammar: it names the grammar, and other languages go on. */
import { ToolError } from '@tool-runtime/protocol';

export type GrammarRefusal =
  | 'not_vendored'
  | 'unreadable'
  | 'digest_mismatch'
  | 'not_wasm'
  | 'no_dylink_section'
  | 'foreign_import'
  | 'abi_unsupported'
  | 'query_mismatch';

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
