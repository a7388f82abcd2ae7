/**
 * What one call needs and may touch beyond its declared paths.
 *
 * A call may need an operation that its tool does not always need: a patch that deletes a file. It then needs what the
 * tools that declare this operation need: one of them must be usable under the session's ceiling, and what the approval
 * policy, the argument constraints and the path rules say about those tools applies to the call too.
 */
import type { JsonObject } from '@tool-runtime/protocol';
import type { ToolAnnotations } from '../../contracts/annotations.ts';
import { policyDenial } from '../../contracts/failures.ts';
import type { LinkUse } from '../../contracts/path-text.ts';
import type { CallProfile } from '../../contracts/tool.ts';
import type { ApprovalVerdict } from '../../policy/approval-policy.ts';
import { type DeclaredPath, fromOutermost } from '../../policy/declared-paths.ts';
import type { ClauseGate, PathClause } from '../../policy/path-rule.ts';
import { type CallPathRule, callPathRule, type NamedPath } from '../../policy/path-rule.ts';
import type { Call, JudgedCall } from '../state/call-types.ts';
import type { CompiledTool, SessionParts } from '../state/session-parts.ts';

export type Operations = ToolAnnotations['capabilities'];

const NO_TOOLS: readonly CompiledTool[] = [];

/** The usable tools that declare one of the operations. */
function lenders(operations: Operations, { tools }: SessionParts): readonly CompiledTool[] {
  const wanted = Object.entries(operations);
  if (wanted.length === 0) return NO_TOOLS;
  return [...tools.values()].filter(({ annotations }) =>
    wanted.some(([capability, names]) => names.some((name) => declares(annotations.capabilities, capability, name))),
  );
}

function declares(capabilities: Operations, capability: string, operation: string): boolean {
  return Object.hasOwn(capabilities, capability) && capabilities[capability]?.includes(operation) === true;
}

/** Throws E_POLICY when no usable tool has an operation. A tool above the ceiling is not usable. */
export function requireOperations(operations: Operations, parts: SessionParts): void {
  for (const [capability, names] of Object.entries(operations)) {
    for (const name of names) {
      if (lenders({ [capability]: [name] }, parts).length > 0) continue;
      throw policyDenial(`No tool of this session may do what the call needs: ${capability}.${name}`, {
        details: {
          gate: 'ceiling',
          reason: 'capability_not_allowed',
          field: 'allowed_tools',
          next: `ask the operator for a tool that has ${capability}.${name}, or leave that part out`,
        },
      });
    }
  }
}

const STRICTEST: readonly ApprovalVerdict['verdict'][] = ['deny', 'ask', 'approve'];

/** The strictest verdict on the tool itself and on those whose operations the call needs. */
export function judgeApproval(call: Call, operations: Operations, parts: SessionParts): ApprovalVerdict {
  const { compiled, subject } = call;
  const paths = subject.paths.map((path) => fromOutermost(parts.folderPrefix, path.value));
  const verdicts = [compiled, ...lenders(operations, parts)].map(({ tool, annotated }) =>
    parts.approvals.judge({
      tool: tool.name,
      annotated,
      profile: subject.profile,
      paths,
      asksByDefault: tool.asksByDefault === true,
    }),
  );
  const [first, ...rest] = verdicts as [ApprovalVerdict, ...ApprovalVerdict[]];
  return rest.reduce((worst, one) => (rank(one) < rank(worst) ? one : worst), first);
}

function rank({ verdict }: ApprovalVerdict): number {
  return STRICTEST.indexOf(verdict);
}

/** For a need found while the tool runs: a verdict that asks is a refusal then. */
export function requireGranted(call: Call, operations: Operations, parts: SessionParts): void {
  requireOperations(operations, parts);
  const [lender] = lenders(operations, parts).filter(
    ({ tool, annotated }) =>
      rank(parts.approvals.judge({ tool: tool.name, annotated, profile: call.subject.profile })) <
      rank({ verdict: 'approve', reason: '' }),
  );
  if (lender === undefined) return;
  throw policyDenial(`Call would need a permission it was not given: ${lender.tool.name}`, {
    details: { gate: 'approval', reason: 'operation_not_granted', next: `use ${lender.tool.name} for that part` },
  });
}

interface Given {
  readonly args: JsonObject;
  readonly paths: readonly DeclaredPath[];
  readonly profile: CallProfile;
}

/** The path rules that apply to the call; undefined when there are none. */
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
  // Clauses of the tools whose permission the call needs apply to all its paths.
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

/** Asks the path rules about the paths in the arguments: of one gate, or of both. */
export function checkPaths({ compiled, pathRule }: Call, { workspace }: SessionParts, gate?: ClauseGate): void {
  if (pathRule === undefined) return;
  const links = linksOf(compiled.annotations);
  const locate = (path: string) => workspace.locate(path, links);
  for (const each of gate === undefined ? (['arguments', 'approval'] as const) : [gate]) {
    pathRule.checkNamed(each, locate);
  }
}

/** Git follows no link of the work tree. */
export function linksOf({ capabilities }: ToolAnnotations): LinkUse {
  if (Object.hasOwn(capabilities, 'git')) return 'themselves';
  const operations = capabilities['workspace'] ?? [];
  const areNames = operations.length > 0 && operations.every((operation) => ON_LINKS_THEMSELVES.has(operation));
  return areNames ? 'themselves' : 'through';
}

/** Whether the call is to run before a person is asked. All it may do until then is to start its commands. */
export function isHeld({ verdict, subject, compiled }: JudgedCall, { registry }: SessionParts): boolean {
  const runsCommands = subject.commands.length > 0 && subject.profile.effect === 'process';
  return verdict === 'ask' && registry.ask !== 'command_line' && runsCommands && compiled.executor === undefined;
}

/** A tool that was let run for its commands alone has to have asked about them. */
export function requireApproved(held: { isApproved(): boolean } | undefined): void {
  if (held === undefined || held.isApproved()) return;
  throw policyDenial('The call ended without the approval it needs', {
    details: { gate: 'approval', reason: 'approval.not_asked', next: 'start the commands of the call' },
  });
}
