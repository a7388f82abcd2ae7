/**
 * Looks at tools and policy together before the first call: what contradicts itself is an error and stops the start,
 * what is merely odd is a warning. A tool that the ceiling hides is not on the surface and cannot break it.
 */
import { isToolError } from '@tool-runtime/protocol';
import {
  completeAnnotations,
  isReadOnlyKind,
  sideEffectRank,
  type ToolAnnotationsInput,
} from '../contracts/annotations.ts';
import type { Hook } from '../contracts/policy.ts';
import type { ApprovalPolicy, CapabilityPolicy, ToolArgConstraint } from '../contracts/registry.ts';
import { compileGlob, compileGlobs, type GlobTest } from '../glob/match-glob.ts';
import { constrainedKeys } from './arg-constraints.ts';
import { type Ceiling, compileCeiling, explicitTools } from './check-ceiling.ts';

export interface SurfaceReport {
  readonly valid: boolean;
  readonly diagnostics: readonly SurfaceDiagnostic[];
}

export function validateSurface(surface: Surface): SurfaceReport {
  const { ceiling, broken } = readCeiling(surface);
  const hidden = new Map(surface.tools.map((tool) => [tool.name, hiddenBecause(tool, ceiling)]));
  const active = surface.tools.filter((tool) => hidden.get(tool.name) === undefined);
  const diagnostics = [
    ...broken,
    ...surface.tools.flatMap((tool) => diagnoseTool(tool, { active, executors: surface.executors ?? new Set() })),
    ...diagnoseNamed(surface, hidden),
    ...diagnosePatterns(surface, active),
  ];
  return { valid: diagnostics.every(({ severity }) => severity !== 'error'), diagnostics };
}

function readCeiling({ ceiling = {} }: Surface): { ceiling: Ceiling; broken: readonly SurfaceDiagnostic[] } {
  try {
    return { ceiling: compileCeiling(ceiling), broken: [] };
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    const broken = [diagnose('invalid_pattern', thrown.message, { field: 'ceiling.tools' })];
    return { ceiling: compileCeiling({ tools: [] }), broken };
  }
}

/** Undefined: on the surface. A tool that can narrow its own profile may still pass the ceiling call by call. */
function hiddenBecause(tool: SurfaceTool, ceiling: Ceiling): { reason: unknown; message: string } | undefined {
  const annotations = completeAnnotations(tool.annotations);
  const { kind, side_effect_level } = annotations;
  try {
    ceiling.check({
      tool: tool.name,
      annotated: tool.annotations !== undefined,
      annotations,
      profile: { kind, side_effect_level, effect: 'process', risk: 'critical' },
    });
    return undefined;
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    const reason = thrown.details['reason'];
    const narrows = typeof tool.profile === 'function' && tool.annotations !== undefined;
    return narrows && reason === 'side_effect_ceiling' ? undefined : { reason, message: thrown.message };
  }
}

/** Hiding a tool is what a ceiling is for, unless the operator asked for it by name: then the two disagree. */
function diagnoseNamed(
  { ceiling = {}, enabled = [], tools }: Surface,
  hidden: ReadonlyMap<string, { reason: unknown; message: string } | undefined>,
): readonly SurfaceDiagnostic[] {
  const named = new Set([...explicitTools(ceiling), ...enabled]);
  return tools.flatMap(({ name }) => {
    const why = named.has(name) ? hidden.get(name) : undefined;
    if (why?.reason !== 'side_effect_ceiling') return [];
    return [diagnose('side_effect_ceiling_exceeded', why.message, { tool: name, field: 'side_effect_level' })];
  });
}

const SEVERITIES = {
  missing_schema: 'warning',
  missing_annotations: 'warning',
  missing_side_effect_level: 'warning',
  missing_executor: 'warning',
  missing_result_reader: 'error',
  unknown_result_reader: 'warning',
  unknown_arg_constraint_tool: 'warning',
  unknown_arg_constraint_key: 'warning',
  unresolvable_arg_constraint: 'error',
  approval_pattern_matches_nothing: 'warning',
  hook_pattern_matches_nothing: 'warning',
  invalid_pattern: 'error',
  side_effect_ceiling_exceeded: 'error',
  kind_level_mismatch: 'warning',
} as const;

type SurfaceCode = keyof typeof SEVERITIES;

interface SurfaceDiagnostic {
  readonly code: SurfaceCode;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly tool?: string;
  /** The registry field or annotation concerned. */
  readonly field?: string;
}

/** The part of a tool that matters here; every tool definition fits. */
export interface SurfaceTool {
  readonly name: string;
  /** A zod object or a JSON Schema. */
  readonly args?: unknown;
  readonly annotations?: ToolAnnotationsInput;
  readonly profile?: unknown;
  readonly run?: unknown;
}

export interface Surface {
  readonly tools: readonly SurfaceTool[];
  readonly ceiling?: CapabilityPolicy;
  /** The ceiling's own constraints unless given. */
  readonly constraints?: readonly ToolArgConstraint[];
  readonly approvals?: ApprovalPolicy | undefined;
  readonly hooks?: readonly Hook[];
  /** Tools whose executor is registered apart from their definition. */
  readonly executors?: ReadonlySet<string>;
  /** Tools the operator switched on by name. */
  readonly enabled?: readonly string[];
}

interface Around {
  readonly active: readonly SurfaceTool[];
  readonly executors: ReadonlySet<string>;
}

const TOOL_LISTS = ['auto_approve', 'auto_deny', 'require_approval'] as const;

/** The checks of surface validation: what they look at and what they report. */
function diagnose(
  code: SurfaceCode,
  message: string,
  at: { readonly tool?: string; readonly field?: string } = {},
): SurfaceDiagnostic {
  return { code, severity: SEVERITIES[code], message, ...at };
}

/** Problems of one tool, independent of the policy, and whether its results can be read. */
function diagnoseTool(tool: SurfaceTool, { active, executors }: Around): readonly SurfaceDiagnostic[] {
  const { name, annotations } = tool;
  const found: SurfaceDiagnostic[] = [];
  if (tool.args === undefined || tool.args === null) {
    found.push(diagnose('missing_schema', `Tool has no argument schema: ${name}`, { tool: name }));
  }
  if (typeof tool.run !== 'function' && !executors.has(name)) {
    found.push(diagnose('missing_executor', `Tool has no executor: ${name}`, { tool: name }));
  }
  if (annotations === undefined) {
    return [...found, diagnose('missing_annotations', `Tool says nothing about itself: ${name}`, { tool: name })];
  }
  found.push(...diagnoseLevel(name, annotations));
  if (active.includes(tool)) found.push(...diagnoseReaders(name, annotations, active));
  return found;
}

function diagnoseLevel(tool: string, annotations: ToolAnnotationsInput): readonly SurfaceDiagnostic[] {
  const field = 'side_effect_level';
  if (annotations.side_effect_level === undefined) {
    return [diagnose('missing_side_effect_level', `Tool has no side-effect level: ${tool}`, { tool, field })];
  }
  const { kind, side_effect_level: level } = completeAnnotations(annotations);
  const writes = sideEffectRank(level) >= sideEffectRank('workspace_write');
  if (!isReadOnlyKind(kind) || !writes || (kind === 'fetch' && level === 'network')) return [];
  return [diagnose('kind_level_mismatch', `Tool of kind ${kind} declares level ${level}: ${tool}`, { tool, field })];
}

/** A handle that cannot be opened is not a result. Only a reader the tool names counts, and only if the session has it. */
function diagnoseReaders(
  tool: string,
  annotations: ToolAnnotationsInput,
  active: readonly SurfaceTool[],
): readonly SurfaceDiagnostic[] {
  const { kind, emits_artifacts, inline_result, result_readers } = completeAnnotations(annotations);
  const at = { tool, field: 'result_readers' };
  const missing = result_readers.filter((reader) => !active.some(({ name }) => name === reader));
  const found = missing.map((reader) =>
    diagnose('unknown_result_reader', `Result reader is not available: ${reader}`, at),
  );
  const unreadable = kind === 'execute' && emits_artifacts && !inline_result;
  if (unreadable && missing.length === result_readers.length) {
    found.push(diagnose('missing_result_reader', `No available tool reads the artifacts of: ${tool}`, at));
  }
  return found;
}

/** Patterns of the policy: whether they are valid, match any tool, and name an existing argument. */
function diagnosePatterns(surface: Surface, active: readonly SurfaceTool[]): readonly SurfaceDiagnostic[] {
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

/** Of a zod object or a JSON Schema; undefined when the schema is neither. */
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
