/** What surface validation looks at and what it reports. */
import type { ToolAnnotationsInput } from '../contracts/annotations.ts';
import type { Hook } from '../contracts/policy.ts';
import type { ApprovalPolicy, CapabilityPolicy, ToolArgConstraint } from '../contracts/registry.ts';

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

export type SurfaceCode = keyof typeof SEVERITIES;

export interface SurfaceDiagnostic {
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

export function diagnose(
  code: SurfaceCode,
  message: string,
  at: { readonly tool?: string; readonly field?: string } = {},
): SurfaceDiagnostic {
  return { code, severity: SEVERITIES[code], message, ...at };
}
