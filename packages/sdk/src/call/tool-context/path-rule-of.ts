/** Which path rules hold for one call, and asking them about the paths its arguments name. */
import type { JsonObject } from '@tool-runtime/protocol';
import type { ToolAnnotations } from '../../contracts/annotations.ts';
import type { LinkUse } from '../../contracts/path-rule.ts';
import type { CallProfile } from '../../contracts/tool.ts';
import type { DeclaredPath } from '../../policy/declared-paths.ts';
import type { ClauseGate, PathClause } from '../../policy/path-clause.ts';
import { type CallPathRule, callPathRule, type NamedPath } from '../../policy/path-rule.ts';
import type { ReadyCall } from '../state/call-types.ts';
import type { CompiledTool, SessionParts } from '../state/session-parts.ts';
import { lenders } from './borrowed-operations.ts';

interface Given {
  readonly args: JsonObject;
  readonly paths: readonly DeclaredPath[];
  readonly profile: CallProfile;
}

export function pathRuleOf(compiled: CompiledTool, given: Given, parts: SessionParts): CallPathRule | undefined {
  const clauses = clausesOf(compiled, given, parts);
  if (clauses.length === 0) return undefined;
  return callPathRule({ clauses, named: namedPaths(compiled, given), prefix: parts.folderPrefix });
}

function clausesOf(compiled: CompiledTool, { args, profile }: Given, parts: SessionParts): readonly PathClause[] {
  const { tool, annotated, annotations, constraints } = compiled;
  const { path_params: keys } = annotations.arg_schema;
  const writes = parts.approvals.writeClause({ tool: tool.name, annotated, profile }, keys);
  const needed = tool.operations?.(args);
  if (writes === undefined && needed === undefined) return constraints.clauses;
  // What is said about the tools whose permission the call needs holds for all its paths.
  const borrowed = needed === undefined ? [] : lenders(needed, parts).flatMap((lender) => lender.constraints.clauses);
  return [
    ...constraints.clauses,
    ...borrowed.map((clause) => ({ ...clause, keys, everyWrite: true })),
    ...(writes === undefined ? [] : [writes]),
  ];
}

function namedPaths({ tool, annotations }: CompiledTool, { args, paths }: Given): readonly NamedPath[] {
  const { set_params: sets = [] } = annotations.arg_schema;
  const inner = tool.innerPaths?.(args) ?? [];
  const everything = sets.filter((key) => !paths.some((path) => path.key === key)).map((key) => ({ key, value: '.' }));
  return [...paths, ...inner, ...everything].map((path) => ({ ...path, isSet: sets.includes(path.key) }));
}

/** Operations of the workspace that concern a link itself, never what it leads to. */
const ON_LINKS_THEMSELVES: ReadonlySet<string> = new Set(['delete', 'move', 'copy']);

/** Both gates unless one is named. */
export function checkPaths({ compiled, pathRule }: ReadyCall, { workspace }: SessionParts, gate?: ClauseGate): void {
  if (pathRule === undefined) return;
  const links = linksOf(compiled.annotations);
  const locate = (path: string) => workspace.locate(path, links);
  for (const each of gate === undefined ? (['arguments', 'approval'] as const) : [gate]) {
    pathRule.checkNamed(each, locate);
  }
}

/** Git follows no link of the work tree. */
function linksOf({ capabilities }: ToolAnnotations): LinkUse {
  if (Object.hasOwn(capabilities, 'git')) return 'themselves';
  const operations = capabilities['workspace'] ?? [];
  const areNames = operations.length > 0 && operations.every((operation) => ON_LINKS_THEMSELVES.has(operation));
  return areNames ? 'themselves' : 'through';
}
