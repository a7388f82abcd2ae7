/**
 * The uses of a declaration: by scopes and imports where its language has them, for members and the like by the language
 * server that runs for the file, and without one by name. No server is started for a question.
 */
import { ToolError } from '@tool-runtime/protocol';
import type { Registry } from '@tool-runtime/sdk';
import type { CodeIndex, QueryNode } from '../../contracts/code-index-contract.ts';
import type { CodeServices } from '../../plugin/code-services.ts';
import type { ProjectFiles } from '../../scope/scope-model.ts';
import type { AnswerReference } from './answer-schema.ts';
import { type NodesAnswer, unknownNode, type ViewRequest } from './query-views.ts';

export interface ReferenceParts {
  readonly services: CodeServices;
  readonly index: CodeIndex;
  /** The session's own. */
  readonly registry: Registry;
}

export interface ReferenceAnswer extends NodesAnswer {
  readonly references: AnswerReference[];
  readonly confidence: 'resolver' | 'server' | 'name';
  readonly left_out?: string[];
}

/** A use before the declaration around it is known. */
export interface FoundUse {
  readonly path: string;
  /** Bytes; undefined in a file that is not part of the workspace's own. */
  readonly start?: number;
  readonly line: number;
  readonly col: number;
  readonly name: string;
  readonly kind: string;
}

export interface FoundUses {
  readonly uses: readonly FoundUse[];
  readonly leftOut: readonly string[];
}

/** Different names one question may be about. */
const MAX_NAMES = 20;

export async function referenceView(
  parts: ReferenceParts,
  request: ViewRequest,
  nodeId: string | undefined,
): Promise<ReferenceAnswer> {
  const nodes = await targets(parts.index, request, nodeId);
  const [first] = nodes;
  const found =
    first === undefined || !areOverloads(nodes)
      ? await ofSeveral(nodes, parts, request.signal)
      : await ofOne(first, parts, request.signal);
  const { limit, offset } = request;
  const { references, confidence, leftOut } = found;
  return {
    nodes: nodes.slice(0, limit).map((node) => ({ ...node })),
    references: references.slice(offset, offset + limit),
    confidence,
    ...(leftOut.length === 0 ? {} : { left_out: [...leftOut] }),
    truncated: references.length > offset + limit,
  };
}

interface Found extends Pick<ReferenceAnswer, 'references' | 'confidence'> {
  readonly leftOut: readonly string[];
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

async function ofOne(node: QueryNode, parts: ReferenceParts, signal: AbortSignal): Promise<Found> {
  const { services, index } = parts;
  const { openWorkspaceFiles } = await import('../../edit/workspace-files.ts');
  const files = await openWorkspaceFiles({ workspace: services.ports.workspace, index, signal });
  const scoped = await byScopes(node, files, services, signal);
  if (scoped !== undefined) return { references: await withOwners(scoped, index), confidence: 'resolver', leftOut: [] };
  const { usesByName, usesByServer } = await import('./member-uses.ts');
  const search = { ...parts, node, files, signal };
  const served = await usesByServer(search);
  const { uses, leftOut } = 'uses' in served ? served : await usesByName(search, served.why);
  return { references: await withOwners(uses, index), confidence: 'uses' in served ? 'server' : 'name', leftOut };
}

/** Undefined where scopes cannot tell: members, languages without them, files that do not parse. */
async function byScopes(
  { file, name, name_span }: QueryNode,
  files: ProjectFiles,
  services: CodeServices,
  signal: AbortSignal,
): Promise<readonly FoundUse[] | undefined> {
  const { findReferences } = await import('../../scope/find-references.ts');
  const target = { path: file, nameStart: name_span.start, name };
  const engine = await services.engine();
  const { references, refused } = await findReferences({ files, engine, target, signal, withAliases: true });
  if (refused !== undefined) return undefined;
  return references.filter(({ role }) => role !== 'definition').map((use) => ({ ...use, kind: use.role }));
}

async function withOwners(uses: readonly FoundUse[], index: CodeIndex): Promise<AnswerReference[]> {
  const answer: AnswerReference[] = [];
  for (const [file, ofFile] of Map.groupBy(uses, (use) => use.path)) {
    const isKnown = ofFile.some(({ start }) => start !== undefined);
    const nodes = isKnown ? await index.nodesOfFile(file) : [];
    for (const { line, col, start = -1, kind, name } of ofFile) {
      const owner = nodes.findLast(({ span }) => span.start <= start && start < span.end);
      const around = owner === undefined ? {} : { node_id: owner.id };
      answer.push({ file, line, col, name, kind, ...around, test: owner?.test ?? false });
    }
  }
  return answer;
}

/** What calls, creates or expands one of the names: read from the index, because scopes and servers are asked about one. */
async function ofSeveral(nodes: readonly QueryNode[], { index }: ReferenceParts, signal: AbortSignal): Promise<Found> {
  const names = [...new Set(nodes.map(({ name }) => name))];
  if (names.length > MAX_NAMES) throw tooManyNames(names.length);
  const references: AnswerReference[] = [];
  for (const name of names) {
    for (const { file, line, kind, node_id, test } of await index.references(name, { limit: 10_000, signal })) {
      references.push({ file, line, name, kind, test, ...(node_id === undefined ? {} : { node_id }) });
    }
  }
  const leftOut = `Only calls, instantiations and macros of the name were looked at, because ${nodes.length} declarations fit; name one by node_id for all uses`;
  return { references, confidence: 'name', leftOut: nodes.length === 0 ? [] : [leftOut] };
}

function tooManyNames(count: number): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `References of too many names at once: ${count}`, {
    path: 'where',
    details: { reason: 'too_many_names', next: 'name one declaration by node_id, or narrow where' },
  });
}
