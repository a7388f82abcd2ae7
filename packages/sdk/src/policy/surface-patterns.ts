/** Patterns that speak about tools: whether they can be read, match anything, and find the argument they mean. */
import { isToolError } from '@tool-runtime/protocol';
import { completeAnnotations } from '../contracts/annotations.ts';
import type { ApprovalPolicy, ToolArgConstraint } from '../contracts/registry.ts';
import { compileGlob, compileGlobs, type GlobTest } from '../glob/match-glob.ts';
import { constrainedKeys } from './arg-constraints.ts';
import {
  diagnose,
  type Surface,
  type SurfaceCode,
  type SurfaceDiagnostic,
  type SurfaceTool,
} from './surface-diagnostic.ts';

const TOOL_LISTS = ['auto_approve', 'auto_deny', 'require_approval'] as const;

export function diagnosePatterns(surface: Surface, active: readonly SurfaceTool[]): readonly SurfaceDiagnostic[] {
  const { tools, hooks = [], approvals = {} } = surface;
  const constraints = surface.constraints ?? surface.ceiling?.tool_arg_constraints ?? [];
  return [
    ...constraints.flatMap((constraint, at) =>
      diagnoseConstraint(constraint, `arg_constraints.${at}`, { tools, active }),
    ),
    ...diagnoseApprovals(approvals, tools),
    ...hooks.flatMap(
      (hook) =>
        matchTools(hook.tools, { tools, code: 'hook_pattern_matches_nothing', field: `hooks.${hook.id}` }).found,
    ),
  ];
}

function diagnoseApprovals(approvals: ApprovalPolicy, tools: readonly SurfaceTool[]): readonly SurfaceDiagnostic[] {
  const code = 'approval_pattern_matches_nothing';
  return [
    ...TOOL_LISTS.flatMap((list) =>
      (approvals[list] ?? []).flatMap(
        (pattern, at) => matchTools(pattern, { tools, code, field: `approvals.${list}.${at}` }).found,
      ),
    ),
    ...invalid(approvals.write_path_allowlist ?? [], 'approvals.write_path_allowlist'),
  ];
}

function diagnoseConstraint(
  constraint: ToolArgConstraint,
  field: string,
  { tools, active }: { readonly tools: readonly SurfaceTool[]; readonly active: readonly SurfaceTool[] },
): readonly SurfaceDiagnostic[] {
  const { matched, found } = matchTools(constraint.tool, { tools, code: 'unknown_arg_constraint_tool', field });
  const unresolvable = matched
    .filter((tool) => active.includes(tool) && keysOf(constraint, tool).length === 0)
    .map(({ name }) =>
      diagnose('unresolvable_arg_constraint', `Argument constraint finds no argument: ${name}`, { tool: name, field }),
    );
  return [
    ...found,
    ...unresolvable,
    ...diagnoseKey(constraint, matched, field),
    ...invalid(constraint.arg_patterns, `${field}.arg_patterns`),
  ];
}

function diagnoseKey(
  constraint: ToolArgConstraint,
  matched: readonly SurfaceTool[],
  field: string,
): readonly SurfaceDiagnostic[] {
  const key = constraint.arg_key;
  const described = matched.filter((tool) => argumentNames(tool) !== undefined);
  if (key === undefined || described.length === 0) return [];
  const known = described.some((tool) => keysOf(constraint, tool).some((name) => argumentNames(tool)?.has(name)));
  if (known) return [];
  return [diagnose('unknown_arg_constraint_key', `No constrained tool takes the argument: ${key}`, { field })];
}

function keysOf(constraint: ToolArgConstraint, tool: SurfaceTool): readonly string[] {
  return constrainedKeys(constraint, completeAnnotations(tool.annotations).arg_schema);
}

/** Of a zod object or a JSON Schema; undefined when the schema is neither and nothing can be said. */
function argumentNames({ args }: SurfaceTool): ReadonlySet<string> | undefined {
  if (typeof args !== 'object' || args === null) return undefined;
  const { shape, properties } = args as { shape?: unknown; properties?: unknown };
  const named = shape ?? properties;
  return typeof named === 'object' && named !== null ? new Set(Object.keys(named)) : undefined;
}

interface PatternPlace {
  readonly tools: readonly SurfaceTool[];
  /** Reported when nothing matches. */
  readonly code: SurfaceCode;
  readonly field: string;
}

function matchTools(
  pattern: string,
  { tools, code, field }: PatternPlace,
): { readonly matched: readonly SurfaceTool[]; readonly found: readonly SurfaceDiagnostic[] } {
  const broken = invalid([pattern], field);
  if (broken.length > 0) return { matched: [], found: broken };
  const matches: GlobTest = compileGlob(pattern);
  const matched = tools.filter(({ name }) => matches(name));
  return {
    matched,
    found: matched.length > 0 ? [] : [diagnose(code, `Pattern matches no tool: ${pattern}`, { field })],
  };
}

function invalid(patterns: readonly string[], field: string): readonly SurfaceDiagnostic[] {
  try {
    compileGlobs(patterns);
    return [];
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return [diagnose('invalid_pattern', thrown.message, { field })];
  }
}
