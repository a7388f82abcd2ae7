/** The capture names a symbols query may use. The list is closed, so that a misspelt one is refused, not ignored. */
import type { Query } from 'web-tree-sitter';
import { NODE_TYPES } from '../contracts/facts.ts';
import { refuseGrammar } from '../grammar/refuse-grammar.ts';

const DECLARATION_TYPES = new Set<string>([...NODE_TYPES, 'trait']);

const ROLES = new Set([
  'name',
  'body',
  'head',
  'params',
  'returns',
  'container',
  'subtype',
  'statement',
  'local',
  'vis',
  'section',
  'hide.name',
  'attr',
  'comment',
  'doc',
  'export',
  'export.name',
  'export.list',
  'ref.call',
  'ref.macro',
  'ref.new',
  'opaque.call',
  'opaque.macro',
  'import',
  'import.source',
  'import.name',
  'import.alias',
  'import.star',
  'import.type',
  'import.reexport',
  'import.tree',
]);

/** Names that start with an underscore are the query's own, for its predicates. */
export function checkCaptures(grammar: string, query: Query): void {
  const unknown = query.captureNames.find(
    (name) =>
      !name.startsWith('_') && !ROLES.has(name) && !(name.startsWith('def.') && DECLARATION_TYPES.has(name.slice(4))),
  );
  if (unknown !== undefined) {
    throw refuseGrammar(grammar, 'query_mismatch', `symbols.scm has an unknown capture @${unknown}`);
  }
}
