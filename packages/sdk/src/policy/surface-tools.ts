/** What can be wrong with one tool, whatever the policy says, and whether its results can be read. */
import {
  completeAnnotations,
  isReadOnlyKind,
  sideEffectRank,
  type ToolAnnotationsInput,
} from '../contracts/annotations.ts';
import { diagnose, type SurfaceDiagnostic, type SurfaceTool } from './surface-diagnostic.ts';

interface Around {
  readonly active: readonly SurfaceTool[];
  readonly executors: ReadonlySet<string>;
}

export function diagnoseTool(tool: SurfaceTool, { active, executors }: Around): readonly SurfaceDiagnostic[] {
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
