/**
 * Looks at tools and policy together before the first call: what contradicts itself is an error and stops the start,
 * what is merely odd is a warning. A tool that the ceiling hides is not on the surface and cannot break it.
 */
import { isToolError } from '@tool-runtime/protocol';
import { completeAnnotations } from '../contracts/annotations.ts';
import { type Ceiling, compileCeiling, explicitTools } from './check-ceiling.ts';
import {
  diagnose,
  diagnosePatterns,
  diagnoseTool,
  type Surface,
  type SurfaceDiagnostic,
  type SurfaceTool,
} from './surface-checks.ts';

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
