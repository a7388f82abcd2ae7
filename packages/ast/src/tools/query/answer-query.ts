/** One question to the index, in the view it was asked for. */
import type { ToolContext } from '@tool-runtime/sdk';
import type { CodeIndex } from '../../contracts/code-index-contract.ts';
import type { CodeServices, UseServices } from '../../plugin/code-services.ts';
import type { QueryArguments } from '../ast-query.ts';
import type { QueryAnswerData } from './answer-schema.ts';
import { ensureIndex } from './ensure-index.ts';
import { nodesView, nodeView, outlineView, sourceView } from './query-views.ts';
import { referenceView } from './reference-view.ts';

export async function answerQuery(
  given: QueryArguments,
  use: UseServices,
  context: ToolContext,
): Promise<QueryAnswerData> {
  const services = use();
  const index = await ensureIndex(use, context);
  const answer = await answerView(given, { services, index }, context.signal);
  (await services.memory()).remember(answer.nodes);
  return answer;
}

async function answerView(
  { where, node_id, limit, offset, view }: QueryArguments,
  { services, index }: { readonly services: CodeServices; readonly index: CodeIndex },
  signal: AbortSignal,
): Promise<QueryAnswerData> {
  const request = { where, limit, offset, signal };
  if (view === 'references') return referenceView(services, request, node_id);
  if (node_id !== undefined) return nodeView(index, node_id, view);
  const views = { nodes: nodesView, source: sourceView, outline: outlineView };
  return views[view](index, request);
}
