/**
 * Who uses a declaration. Of one declaration by scopes and imports where its language has them; otherwise, and for
 * several at once, every call, instantiation and macro of the name.
 */
import { ToolError } from '@tool-runtime/protocol';
import type { CodeIndex, QueryNode } from '../../contracts/code-index-contract.ts';
import type { CodeServices } from '../../plugin/code-services.ts';
import type { AnswerReference } from './answer-schema.ts';
import type { NodesAnswer, ViewRequest } from './query-views.ts';
import { unknownNode } from './unknown-node.ts';

export interface ReferenceAnswer extends NodesAnswer {
  readonly references: AnswerReference[];
  readonly confidence: 'resolver' | 'name';
}

/** Different names one question may be about. */
const MAX_NAMES = 20;

export async function referenceView(
  services: CodeServices,
  request: ViewRequest,
  nodeId: string | undefined,
): Promise<ReferenceAnswer> {
  const index = await services.index();
  const nodes = await targets(index, request, nodeId);
  const [first] = nodes;
  const scoped =
    first !== undefined && areOverloads(nodes) ? await byScopes(first, services, request.signal) : undefined;
  const references = scoped ?? (await byName(nodes, index, request.signal));
  const { limit, offset } = request;
  return {
    nodes: nodes.slice(0, limit).map((node) => ({ ...node })),
    references: references.slice(offset, offset + limit),
    confidence: scoped === undefined ? 'name' : 'resolver',
    truncated: references.length > offset + limit,
  };
}

/** One declaration, or several that are one name: overloads share their uses. */
function areOverloads([first, ...others]: readonly QueryNode[]): boolean {
  return others.every(
    ({ file, container, name, type }) =>
      file === first?.file && container === first.container && name === first.name && type === first.type,
  );
}

async function targets(
  index: CodeIndex,
  { where, signal }: ViewRequest,
  nodeId: string | undefined,
): Promise<readonly QueryNode[]> {
  if (nodeId === undefined) return (await index.query(where, { limit: 1000, signal })).nodes;
  const found = await index.nodeById(nodeId);
  if (found === undefined) throw unknownNode(nodeId);
  return [found.node];
}

/** Undefined where scopes cannot tell: members, languages without them, files that do not parse. */
async function byScopes(
  { file, name, name_span }: QueryNode,
  services: CodeServices,
  signal: AbortSignal,
): Promise<AnswerReference[] | undefined> {
  const [{ findReferences }, { openWorkspaceFiles }] = await Promise.all([
    import('../../scope/find-references.ts'),
    import('../../edit/workspace-files.ts'),
  ]);
  const [index, engine] = [await services.index(), await services.engine()];
  const files = await openWorkspaceFiles({ workspace: services.ports.workspace, index, signal });
  const target = { path: file, nameStart: name_span.start, name };
  const found = await findReferences({ files, engine, target, signal, withAliases: true });
  if (found.refused !== undefined) return undefined;
  const uses = found.references.filter(({ role }) => role !== 'definition');
  const answer: AnswerReference[] = [];
  for (const [path, ofFile] of Map.groupBy(uses, (use) => use.path)) {
    const nodes = await index.nodesOfFile(path);
    for (const { line, col, start, role, name: written } of ofFile) {
      const owner = nodes.findLast(({ span }) => span.start <= start && start < span.end);
      const around = owner === undefined ? {} : { node_id: owner.id };
      answer.push({ file: path, line, col, name: written, kind: role, ...around, test: owner?.test ?? false });
    }
  }
  return answer;
}

async function byName(nodes: readonly QueryNode[], index: CodeIndex, signal: AbortSignal): Promise<AnswerReference[]> {
  const names = [...new Set(nodes.map(({ name }) => name))];
  if (names.length > MAX_NAMES) throw tooManyNames(names.length);
  const references: AnswerReference[] = [];
  for (const name of names) {
    for (const { file, line, kind, node_id, test } of await index.references(name, { limit: 10_000, signal })) {
      references.push({ file, line, name, kind, test, ...(node_id === undefined ? {} : { node_id }) });
    }
  }
  return references;
}

function tooManyNames(count: number): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `References of too many names at once: ${count}`, {
    path: 'where',
    details: { reason: 'too_many_names', next: 'name one declaration by node_id, or narrow where' },
  });
}
