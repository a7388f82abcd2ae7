/** One question to the index, in the view it was asked for. */
import type { ToolContext } from '@tool-runtime/sdk';
import type { CodeIndex } from '../../contracts/code-index-contract.ts';
import type { CodeServices, UseServices } from '../../plugin/code-services.ts';
import type { QueryArguments } from '../ast-query.ts';
import type { AnswerNode, QueryAnswerData } from './answer-schema.ts';
import { ensureIndex, openIndex } from './ensure-index.ts';
import type { ImportAnswer } from './import-view.ts';
import type { MatchAnswer } from './match-view.ts';
import { type NodesAnswer, nodesView, nodeView, outlineView, plainGlob, sourceView } from './query-views.ts';
import type { ReferenceAnswer } from './reference-view.ts';

export async function answerQuery(
  given: QueryArguments,
  use: UseServices,
  context: ToolContext,
): Promise<QueryAnswerData> {
  const services = use(context);
  const began = Date.now();
  const file = oneFile(given);
  const patienceMs = isUsefulInPart(given) ? services.firstAnswerMs : undefined;
  const { index, missing } =
    file === undefined ? await openIndex(use, context, patienceMs) : { index: await services.index() };
  // Brought in, whatever else is.
  if (file !== undefined) await index.nodesOfFile(file);
  const parts = { services, index };
  let answer = await answerView(given, parts, context);
  if (missing !== undefined && answer.nodes.length > 0) context.warn(missing);
  else if (missing !== undefined) {
    // Nothing so far says nothing.
    await ensureIndex(use, context);
    answer = await answerView(given, parts, context);
  }
  (await services.memory()).remember(answer.nodes);
  const detail = given.detail ?? (given.node_id === undefined ? 'compact' : 'full');
  const near = answer.nodes.length === 0 ? await nearNames(given, index) : [];
  return {
    ...answer,
    nodes: detail === 'full' ? answer.nodes : answer.nodes.map((node) => compactNode(node, given.view)),
    ...(near.length === 0 ? {} : { near: [...near] }),
    as_of: new Date(file === undefined ? index.lookedAt() : began).toISOString(),
  };
}

/** The file, when the question is about one file only; uses of its declarations are a question about all files. */
function oneFile({ view, where, node_id }: QueryArguments): string | undefined {
  return view === 'references' || node_id !== undefined ? undefined : plainGlob(where);
}

/** A list of declarations is useful before every file is read; uses and matches count, and wait for all. */
function isUsefulInPart({ view, node_id }: QueryArguments): boolean {
  return node_id === undefined && (view === 'nodes' || view === 'outline' || view === 'source');
}

async function nearNames({ where, node_id, view }: QueryArguments, index: CodeIndex): Promise<readonly string[]> {
  const { name_like: name } = where;
  if (view === 'matches' || view === 'imports') return [];
  if (name === undefined || node_id !== undefined || /[*?]/.test(name)) return [];
  return (await index.nearNames(name)).filter((one) => one !== name);
}

type CompactNode = { -readonly [Key in keyof AnswerNode]: AnswerNode[Key] };

/** What it is and where; what is usual is left out. Set field by field: spreading what may be absent costs more than the search. */
function compactNode(node: AnswerNode, view: QueryArguments['view']): AnswerNode {
  const { container, subtype, span, depth, source } = node;
  const { id, type, name, file, line, end_line, signature } = node;
  const compact: CompactNode = { id, type, name, file, line, end_line, signature };
  if (subtype !== undefined) compact.subtype = subtype;
  if (container !== undefined && container !== '') compact.container = container;
  if (view !== 'outline' && span !== undefined) compact.span = span;
  if (node.exported === true) compact.exported = true;
  if (node.test === true) compact.test = true;
  if (depth !== undefined) compact.depth = depth;
  if (source !== undefined) compact.source = source;
  return compact;
}

async function answerView(
  { where, node_id, limit, offset, view, pattern }: QueryArguments,
  { services, index }: { readonly services: CodeServices; readonly index: CodeIndex },
  context: ToolContext,
): Promise<NodesAnswer & Partial<ReferenceAnswer & MatchAnswer & ImportAnswer>> {
  const { signal, registry } = context;
  const request = { where, limit, offset, signal };
  if (view === 'references') {
    const { referenceView } = await import('./reference-view.ts');
    return referenceView({ services, index, registry }, request, node_id);
  }
  if (view === 'matches') return (await import('./match-view.ts')).matchView(services, request, pattern);
  if (view === 'imports') return (await import('./import-view.ts')).importView(index, request);
  if (node_id !== undefined) return nodeView(index, node_id, view);
  const views = { nodes: nodesView, source: sourceView, outline: outlineView };
  return views[view](index, request);
}
