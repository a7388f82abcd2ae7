/** The imports of a draft with the nodes they are written in. */
import type { Node } from 'web-tree-sitter';
import type { ImportFact } from '../contracts/facts.ts';
import type { Draft } from './draft.ts';
import { refuseEdit } from './edit-failures.ts';
import type { ImportForms } from './edit-profile.ts';
import { children } from './syntax-node.ts';

export interface ImportStatement {
  readonly node: Node;
  /** Everything it imports. */
  readonly facts: readonly ImportFact[];
}

/** Throws E_AST_EDIT for a language whose imports are not known. */
export function importForms(draft: Draft): ImportForms {
  if (draft.edit.imports !== undefined) return draft.edit.imports;
  throw refuseEdit('no_imports', `Imports of this language are not edited: ${draft.profile.label}`, {
    path: draft.path,
    next: 'use file_patch',
  });
}

/** In file order; what is imported inside of expressions is not among them. */
export function importStatements(draft: Draft): readonly ImportStatement[] {
  const { statements } = importForms(draft);
  const found = new Map<number, { node: Node; facts: ImportFact[] }>();
  for (const fact of draft.facts.imports) {
    if (fact.reexport === true) continue;
    const at = draft.source.toOffset(fact.start);
    let node: Node | null = draft.parsed.tree.rootNode.descendantForIndex(at, at);
    while (node !== null && !statements.includes(node.type)) node = node.parent;
    if (node === null) continue;
    const known = found.get(node.startIndex);
    if (known === undefined) found.set(node.startIndex, { node, facts: [fact] });
    else known.facts.push(fact);
  }
  return [...found.values()].sort((left, right) => left.node.startIndex - right.node.startIndex);
}

/** The list of names in a statement: a node inside of it, or the statement itself. */
export function listOf({ node }: ImportStatement, { lists }: ImportForms): Node | undefined {
  if (lists.includes(node.type)) return node;
  return node.descendantsOfType([...lists]).find((one) => one !== null) ?? undefined;
}

/** The names of a list, without what comes before the list in the same node. */
export function elementsOf(list: Node): readonly Node[] {
  const all = children(list);
  const from = all.findIndex((child) => child.type === 'import');
  return all.slice(from + 1).filter((child) => child.isNamed && !child.type.includes('comment'));
}

/** The file's way of quoting and ending imports. */
export function importHabits(
  draft: Draft,
  statements: readonly ImportStatement[],
): { readonly quote: string; readonly semicolon: string } {
  const { quotes } = importForms(draft);
  const [first = "'"] = quotes;
  const counts = quotes.map((quote) => ({
    quote,
    count: statements.filter(({ node }) => node.text.includes(quote)).length,
  }));
  const best = counts.reduce((most, one) => (one.count > most.count ? one : most), { quote: first, count: 0 });
  const ends = statements.length > 0 ? statements.map(({ node }) => node.text) : draft.text.split(/\r?\n/);
  const told = ends.filter((line) => /[\w)'"};]$/.test(line.trimEnd()));
  const ended = told.filter((line) => line.trimEnd().endsWith(';')).length;
  return { quote: best.quote, semicolon: told.length === 0 || ended * 3 >= told.length ? ';' : '' };
}
