/**
 * Decides which tools a session may call and works out everything about them that no call can change.
 *
 * A tool that is left out keeps its reason, so that a caller who asks for it learns why instead of "unknown".
 */
import { type ToolError, toToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { CompiledTool } from '../call/state/session-parts.ts';
import { completeAnnotations } from '../contracts/annotations.ts';
import { policyDenial } from '../contracts/failures.ts';
import type { Registry } from '../contracts/registry.ts';
import { type AnyTool, type CallProfile, isListedTool } from '../contracts/tool.ts';
import { type CompiledPackage, type CompiledToolFacts, compilePackage } from '../package/compile-package.ts';
import type { HostExecutor } from '../package/executor-registry.ts';
import { buildSnapshot, type ToolRegistrySnapshot } from '../package/registry-snapshot.ts';
import type { ToolRoute } from '../package/tool-router.ts';
import { digest } from '../platform/digest.ts';
import { compileArgConstraints } from '../policy/arg-constraints.ts';
import type { Ceiling } from '../policy/check-ceiling.ts';

export interface ToolChoice {
  readonly usable: readonly AnyTool[];
  readonly hidden: ReadonlyMap<string, ToolError>;
}

export interface ChoiceInput {
  readonly tools: readonly AnyTool[];
  readonly registry: Registry;
  /** Of the embedding program, by ref. */
  readonly executors: ReadonlyMap<string, HostExecutor>;
  readonly ceiling: Ceiling;
  /** Of the whole workspace, when the session works in a folder of it. */
  readonly codeIndex: 'here' | 'missing' | 'elsewhere';
  /** Names of tools that would reach beyond the folder the session works in. */
  readonly beyondFolder: ReadonlySet<string>;
}

export function chooseTools(input: ChoiceInput): ToolChoice {
  const hidden = new Map<string, ToolError>();
  const usable = input.tools.filter((tool) => {
    const reason = reasonToHide(tool, input);
    if (reason !== undefined) hidden.set(tool.name, reason);
    return reason === undefined;
  });
  return { usable, hidden };
}

function reasonToHide(tool: AnyTool, input: ChoiceInput): ToolError | undefined {
  if (input.registry.tools.get(tool.name)?.enabled === false) {
    return policyDenial(`Tool is switched off in the registry: ${tool.name}`, {
      details: { gate: 'route', reason: 'tool_disabled', field: `tools.${tool.name}.enabled` },
    });
  }
  const refusal = tool.hiddenBy?.(input.registry);
  if (refusal !== undefined) return refusal;
  if (tool.executorRef !== undefined && !input.executors.has(tool.executorRef)) return noExecutor(tool);
  if (tool.needs?.includes('ast') === true && input.codeIndex !== 'here') return noIndex(tool.name, input.codeIndex);
  if (input.beyondFolder.has(tool.name)) return beyondFolder(tool.name);
  try {
    input.ceiling.check({
      tool: tool.name,
      annotated: tool.annotations !== undefined,
      annotations: completeAnnotations(tool.annotations),
      // A tool whose calls may stay lower is shown; each call is judged by its own arguments.
      profile: {
        ...staticProfile(tool),
        ...(tool.leastLevel === undefined ? {} : { side_effect_level: tool.leastLevel }),
      },
    });
    return undefined;
  } catch (refusal) {
    // The ceiling refuses by throwing; here its refusal is the answer.
    return toToolError(refusal);
  }
}

function noExecutor({ name, executorRef }: AnyTool): ToolError {
  return policyDenial(`Executor of the tool is not registered: ${name} (${executorRef})`, {
    details: { gate: 'route', reason: 'missing.executor', next: 'pass it to createRuntime under executors' },
  });
}

function noIndex(name: string, codeIndex: 'missing' | 'elsewhere'): ToolError {
  const details = { gate: 'route', reason: 'missing.adapter' };
  return codeIndex === 'missing'
    ? policyDenial(`Tool needs an AST index, and this runtime has none: ${name}`, {
        details: { ...details, next: 'create the runtime with the ast package' },
      })
    : policyDenial(`Tool needs the code index of the whole workspace, and this session has a folder of it: ${name}`, {
        details: { ...details, next: 'ask the parent to make the call' },
      });
}

function beyondFolder(name: string): ToolError {
  return policyDenial(`Tool works on the whole workspace, and this session has a folder of it: ${name}`, {
    details: { gate: 'route', reason: 'beyond_folder', next: 'ask the parent to make the call' },
  });
}

export function staticProfile(tool: AnyTool): CallProfile {
  const annotations = completeAnnotations(tool.annotations);
  return {
    kind: annotations.kind,
    side_effect_level: annotations.side_effect_level,
    effect: tool.effect,
    risk: tool.risk,
  };
}

export function compileTool(
  tool: AnyTool,
  route: ToolRoute,
  { registry, executors }: Pick<ChoiceInput, 'registry' | 'executors'>,
): CompiledTool {
  const annotations = completeAnnotations(tool.annotations);
  const settings = registry.tools.get(tool.name);
  const timeoutMs = settings?.timeout_ms ?? tool.timeoutMs;
  return {
    tool,
    route,
    annotations,
    annotated: tool.annotations !== undefined,
    staticProfile: staticProfile(tool),
    constraints: compileArgConstraints(registry.ceiling.tool_arg_constraints, {
      name: tool.name,
      argSchema: annotations.arg_schema,
    }),
    timeoutMs,
    executor: tool.executorRef === undefined ? undefined : executors.get(tool.executorRef),
    maxTimeoutMs: settings?.max_timeout_ms ?? Math.max(timeoutMs, tool.maxTimeoutMs ?? tool.timeoutMs),
  };
}

/** One for each runtime: the facts of a tool never change, and writing its schema takes longer than the rest of a session. */
export function createToolFacts(): (tool: AnyTool) => CompiledToolFacts {
  const known = new Map<AnyTool, CompiledToolFacts>();
  return (tool) => {
    const facts = known.get(tool) ?? toolFacts(tool);
    known.set(tool, facts);
    return facts;
  };
}

function toolFacts(tool: AnyTool): CompiledToolFacts {
  return {
    name: tool.name,
    effect: tool.effect,
    risk: tool.risk,
    schemaDigest: schemaDigest(tool),
    ...(tool.executorRef === undefined ? {} : { executorRef: tool.executorRef }),
  };
}

/** Worked out when the package was built, for tools that came with it. */
export function schemaDigest(tool: AnyTool): string {
  return isListedTool(tool) ? tool.schemaDigest : digest(JSON.stringify(argsSchema(tool)));
}

export function argsSchema(tool: AnyTool): object {
  return tool.argsJsonSchema ?? z.toJSONSchema(tool.args, { io: 'input' });
}

/** Also of a tool that is not loaded yet. */
export function argumentNames(tool: AnyTool): readonly string[] {
  const { properties = {} } = argsSchema(tool) as { readonly properties?: object };
  return Object.keys(properties);
}

export function dataSchema(tool: AnyTool): object {
  return tool.dataJsonSchema ?? z.toJSONSchema(tool.data, { io: 'output' });
}

export interface PackageOrder {
  readonly agentId: string;
  readonly registryFingerprint: string;
  /** The same object for the same tool: a tool that was replaced has other ones. */
  readonly tools: readonly CompiledToolFacts[];
}

export interface SessionPackage {
  readonly package: CompiledPackage['package'];
  readonly snapshot: ToolRegistrySnapshot;
}

/** More kinds of sessions than most hosts have. */
const KEPT = 16;

/**
 * Packages and snapshots by their content. Sessions that may do the same share one, frozen all through: writing
 * it costs more than the rest of opening a session.
 */
export function createPackageMemo(): (order: PackageOrder) => SessionPackage {
  let kept: readonly (readonly [PackageOrder, SessionPackage])[] = [];
  return (order) => {
    const known = kept.find(([one]) => isSame(one, order)) ?? [order, build(order)];
    kept = [known, ...kept.filter((one) => one !== known)].slice(0, KEPT);
    return known[1];
  };
}

function build(order: PackageOrder): SessionPackage {
  const { package: made, routes } = compilePackage({ packageId: 'package.session', ...order });
  return { package: made, snapshot: buildSnapshot(made, routes) };
}

function isSame(one: PackageOrder, other: PackageOrder): boolean {
  return (
    one.agentId === other.agentId &&
    one.registryFingerprint === other.registryFingerprint &&
    one.tools.length === other.tools.length &&
    one.tools.every((facts, at) => facts === other.tools[at])
  );
}
