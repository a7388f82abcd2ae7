/** The views of a query: declarations alone, with their text, or as the outline of files. */
import { ToolError } from '@tool-runtime/protocol';
import type { CodeIndex, OutlineNode, Where } from '../../contracts/code-index-contract.ts';
import type { AnswerNode } from './answer-schema.ts';

export interface ViewRequest {
  readonly where: Where;
  readonly limit: number;
  readonly offset: number;
  readonly signal: AbortSignal;
}

export interface NodesAnswer {
  readonly nodes: AnswerNode[];
  readonly truncated: boolean;
  readonly total?: number;
}

/** Text of declarations in one answer. */
const SOURCE_CHARACTERS = 256 * 1024;

export async function nodesView(index: CodeIndex, { where, ...bounds }: ViewRequest): Promise<NodesAnswer> {
  const { nodes, ...size } = await index.query(where, bounds);
  return { nodes: [...nodes], ...size };
}

/** Whole texts or none: the answer ends before the one that would not fit any more, but never before the first. */
export async function sourceView(index: CodeIndex, { where, ...bounds }: ViewRequest): Promise<NodesAnswer> {
  const { nodes, truncated, ...size } = await index.query(where, { ...bounds, source: true });
  let left = SOURCE_CHARACTERS;
  const fitting = nodes.findIndex((node, place) => {
    left -= node.source?.length ?? 0;
    return left < 0 && place > 0;
  });
  const shown = fitting === -1 ? nodes : nodes.slice(0, fitting);
  return { nodes: [...shown], truncated: truncated || shown.length < nodes.length, ...size };
}

/** One declaration by its id; as an outline with everything inside it. */
export async function nodeView(
  index: CodeIndex,
  id: string,
  view: 'nodes' | 'source' | 'outline',
): Promise<NodesAnswer> {
  const found = await index.nodeById(id);
  if (found === undefined) throw unknownNode(id);
  const { file, span } = found.node;
  if (view === 'nodes') return { nodes: [found.node], truncated: false };
  if (view === 'source') {
    const nodes = await index.nodesOfFile(file, { source: true });
    return { nodes: nodes.filter((node) => node.id === id), truncated: false };
  }
  const all: AnswerNode[] = [];
  flatten(await index.outline(file), 0, all);
  const inside = all.filter((node) => (node.span?.start ?? 0) >= span.start && (node.span?.end ?? 0) <= span.end);
  return { nodes: inside, truncated: false };
}

/** In file order, with depth. What contains a declaration that was asked for is shown too. */
export async function outlineView(index: CodeIndex, request: ViewRequest): Promise<NodesAnswer> {
  const { limit, offset } = request;
  const nodes: AnswerNode[] = [];
  const files = await filesOf(index, request);
  for (const file of files) {
    request.signal.throwIfAborted();
    flatten(await index.outline(file), 0, nodes);
    if (files.length > 1 && nodes.length > offset + limit) break;
  }
  const truncated = nodes.length > offset + limit;
  const isCounted = files.length === 1 || !truncated;
  return {
    nodes: nodes.slice(offset, offset + limit),
    truncated,
    ...(isCounted ? { total: nodes.length } : {}),
  };
}

/** A plain file name is looked at as it is, indexed or not; otherwise the files with a declaration that is asked for. */
async function filesOf(index: CodeIndex, { where, signal }: ViewRequest): Promise<readonly string[]> {
  const file = plainGlob(where);
  if (file !== undefined && Object.keys(where).length === 1) return [file];
  const { nodes } = await index.query(where, { limit: 10_000, signal });
  return [...new Set(nodes.map(({ file }) => file))];
}

/** The one file that a glob without wildcards names. */
export function plainGlob({ file_glob: glob }: Where): string | undefined {
  return glob === undefined || /[*?[{\\]/.test(glob) ? undefined : glob;
}

function flatten(outline: readonly OutlineNode[], depth: number, into: AnswerNode[]): void {
  for (const { node, children } of outline) {
    into.push({ ...node, depth });
    flatten(children, depth + 1, into);
  }
}

/** The answer to an id that names nothing any more. */
export function unknownNode(id: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `No declaration has this id: ${id.slice(0, 80)}`, {
    path: 'node_id',
    details: { reason: 'stale_node', next: 'query again: ids change with name, container and file' },
  });
}
