/**
 * The declaration at a place that the caller names: by file and name, or by file, line and column. What several
 * declarations fit is refused with all of them; nothing is guessed.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { dottedPath, type NodeFact } from '../contracts/facts.ts';
import { resolveScopes } from '../scope/resolve-scopes.ts';
import type { NameToken } from '../scope/scope-model.ts';
import type { Draft } from './draft.ts';
import type { Target } from './edit-desk.ts';
import { refuseEdit } from './edit-failures.ts';

export interface TargetPlace {
  readonly file?: string | undefined;
  /** Alone, or after its containers: `Parser.read`. */
  readonly name?: string | undefined;
  readonly container?: string | undefined;
  /** From 1. */
  readonly line?: number | undefined;
  /** From 1, in UTF-16 units. */
  readonly col?: number | undefined;
}

const MAX_SHOWN = 20;

/** The place of a local variable or parameter in `Target.at`: the index does not know it. */
export const LOCAL = -1;

/** Throws E_AST_EDIT with `no_such_declaration` or `several_declarations`. */
export function locateTarget(draft: Draft, place: TargetPlace, isNameOnly: boolean): Target {
  const { line, col } = place;
  if (line !== undefined && col !== undefined) {
    const target = atColumn(draft, place, line, col);
    if (target.at === LOCAL && !isNameOnly) throw local(target);
    return target;
  }
  const { nodes } = draft.facts;
  const fits = nodes.flatMap((node, at) => (isNamed(node, place) ? [{ draft, node, at }] : []));
  const [first, ...others] = fits;
  if (first === undefined) return (isNameOnly ? localNamed(draft, place) : undefined) ?? refuse(notFound(draft, place));
  const isOne = isNameOnly && others.every(({ node }) => isOverload(node, first.node));
  if (others.length > 0 && !isOne) throw several(draft, fits);
  return first;
}

function refuse(error: ToolError): never {
  throw error;
}

/** The one local variable or parameter of the file that has the name. */
function localNamed(draft: Draft, place: TargetPlace): Target | undefined {
  const { name, container, line } = place;
  if (name === undefined || container !== undefined || draft.parser.queries.locals === undefined) return undefined;
  const { source } = draft;
  const bindings = new Set(
    resolveScopes(draft.parsed)
      .tokens.filter((token) => token.role === 'definition' && token.name === name)
      .filter(({ start }) => line === undefined || source.rowOf(start) + 1 === line)
      .map(({ binding }) => binding),
  );
  const definitions = [...bindings].flatMap((binding) => binding?.definitions[0] ?? []);
  const [only, ...others] = definitions.map((definition) => localNode(draft, definition));
  if (only === undefined) return undefined;
  if (others.length > 0) throw severalLocals(draft, [only, ...others]);
  return { draft, node: only, at: LOCAL };
}

function severalLocals({ path }: Draft, fits: readonly NodeFact[]): ToolError {
  return refuseEdit('several_declarations', `Several local names fit: ${fits[0]?.name ?? ''} in ${path}`, {
    path,
    next: 'give line, or line and col, as well',
    details: { count: fits.length, candidates: fits.slice(0, MAX_SHOWN).map(({ line, col }) => ({ line, col })) },
  });
}

function isOverload(a: NodeFact, b: NodeFact): boolean {
  return a.type === b.type && a.parent === b.parent && a.name === b.name;
}

function isNamed(node: NodeFact, { name, container, line }: TargetPlace): boolean {
  const isName = name === undefined || node.name === name || `${node.container}.${node.name}` === dottedPath(name);
  const isInside = container === undefined || node.container === dottedPath(container);
  return isName && isInside && (line === undefined || node.line === line);
}

/** The declaration of the name at the place: what is declared there, or what is used there and declared in the file. */
function atColumn(draft: Draft, place: TargetPlace, line: number, col: number): Target {
  const { source } = draft;
  const offset = source.lineStart(line - 1) + col - 1;
  const isThere = ({ start, end }: { readonly start: number; readonly end: number }) => start <= offset && offset < end;
  const known = draft.facts.nodes.findIndex(({ nameSpan }) => isThere(draft.units(nameSpan)));
  if (known !== -1) return targetAt(draft, known);
  if (draft.parser.queries.locals === undefined) throw notFound(draft, place);
  const scopes = resolveScopes(draft.parsed);
  const token = scopes.tokens.find(isThere);
  const definition = token?.binding?.definitions[0];
  if (definition === undefined) throw notFound(draft, place);
  const start = source.toByte(definition.start);
  const declared = draft.facts.nodes.findIndex(({ nameSpan }) => nameSpan.start === start);
  return declared === -1 ? { draft, node: localNode(draft, definition), at: LOCAL } : targetAt(draft, declared);
}

function targetAt(draft: Draft, at: number): Target {
  return { draft, node: draft.facts.nodes[at] as NodeFact, at };
}

/** A name that scopes know and the index does not. */
function localNode({ source }: Draft, { name, start, end }: NameToken): NodeFact {
  const span = { start: source.toByte(start), end: source.toByte(end) };
  const row = source.rowOf(start);
  const col = start - source.lineStart(row) + 1;
  return {
    ...{ id: '', rev: '', type: 'var', name, container: '', parent: -1, ordinal: 0, signature: name },
    ...{ span, fullSpan: span, nameSpan: span, line: row + 1, col, endLine: row + 1, endCol: col + name.length },
    ...{ exported: false, hasDoc: false, test: false },
  };
}

function notFound({ path, facts }: Draft, { name, line, col }: TargetPlace): ToolError {
  const where = line === undefined ? '' : `:${line}${col === undefined ? '' : `:${col}`}`;
  const wanted = (name ?? '').split('.').at(-1)?.toLowerCase() ?? '';
  const near = facts.nodes.filter((node) => wanted !== '' && node.name.toLowerCase().includes(wanted));
  const shown = (near.length > 0 ? near : facts.nodes).slice(0, MAX_SHOWN).map(describe);
  return refuseEdit('no_such_declaration', `No declaration ${name ?? 'of a name'} here: ${path}${where}`, {
    path,
    next: shown.length === 0 ? 'query the file with view outline' : 'name one of these, or query with view outline',
    details: { declarations: shown },
  });
}

function local({ draft: { path }, node }: Target): ToolError {
  return refuseEdit('local_name', `Only rename_symbol edits local names: ${node.name} in ${path}`, {
    path,
    next: 'edit the declaration around it, or use file_edit',
    details: { line: node.line },
  });
}

function several({ path }: Draft, fits: readonly Target[]): ToolError {
  return refuseEdit('several_declarations', `Several declarations fit: ${fits[0]?.node.name ?? ''} in ${path}`, {
    path,
    next: 'give container or line as well, or target_node_id',
    details: {
      count: fits.length,
      candidates: fits
        .slice(0, MAX_SHOWN)
        .map(({ node }) => ({ node_id: node.id, line: node.line, is: describe(node) })),
    },
  });
}

function describe({ type, container, name, line }: NodeFact): string {
  return `${type} ${container === '' ? '' : `${container}.`}${name} line ${line}`;
}
