/** The tools a session may use, as clients need them: contract, limits, policy notes. And the others, with the reason. */
import type { CompiledTool, SessionParts } from '../call/state/session-parts.ts';
import type { ToolKind } from '../contracts/annotations.ts';
import { argsSchema, dataSchema } from './compile-tools.ts';

export interface ToolListing {
  readonly name: string;
  readonly title: string;
  readonly category: string;
  readonly summary: string;
  readonly policyNotes: string | undefined;
  readonly kind: ToolKind;
  readonly sideEffectLevel: string;
  readonly effect: string;
  readonly risk: string;
  readonly idempotent: boolean;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  /** Answers are contents: a model gets them as text alone. */
  readonly hasLargeAnswers: boolean;
  /** JSON Schema 2020-12 of the arguments. */
  readonly argsSchema: object;
  readonly dataSchema: object;
}

export interface HiddenTool {
  readonly name: string;
  readonly reason: string;
  /** `file:line` of the registry that hides it. */
  readonly registry: string | undefined;
}

/** All of them, or only the one of this name: schemas are built on the way, which takes its time. */
export function discoverTools(parts: SessionParts, name?: string): readonly ToolListing[] {
  const names = parts.snapshot.routes.map((route) => route.canonical_tool_name);
  return names
    .filter((candidate) => name === undefined || candidate === name)
    .flatMap((candidate) => {
      const compiled = parts.tools.get(candidate);
      return compiled === undefined ? [] : [listing(compiled)];
    });
}

export function hiddenTools(parts: SessionParts): readonly HiddenTool[] {
  return [...parts.hidden].map(([name, error]) => {
    const field = error.details['field'];
    const spot = typeof field === 'string' ? parts.registry.spot(field) : undefined;
    return { name, reason: error.message, registry: spot === undefined ? undefined : `${spot.file}:${spot.line}` };
  });
}

function listing({ tool, staticProfile, timeoutMs, maxTimeoutMs }: CompiledTool): ToolListing {
  return {
    name: tool.name,
    title: tool.title,
    category: tool.category,
    summary: tool.summary,
    policyNotes: tool.policyNotes,
    kind: staticProfile.kind,
    sideEffectLevel: staticProfile.side_effect_level,
    effect: staticProfile.effect,
    risk: staticProfile.risk,
    idempotent: tool.idempotent === true,
    timeoutMs,
    maxTimeoutMs,
    hasLargeAnswers: tool.hasLargeAnswers === true,
    argsSchema: argsSchema(tool),
    dataSchema: dataSchema(tool),
  };
}
