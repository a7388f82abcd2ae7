/**
 * Facts about tools → a runtime package and the routes into it, one capability and one route for each tool.
 *
 * A capability's version is the digest of its route: packages carry no effect or risk class, so without it a tool
 * could turn from reading to writing under an unchanged fingerprint.
 */
import type { EffectClass, RiskClass } from '../contracts/classes.ts';
import type { ExecutorRef } from '../contracts/identifiers.ts';
import type { PolicyRef, SourceKind, SourceRef } from '../contracts/refs.ts';
import { digest } from '../platform/digest.ts';
import { canonicalText, sortedPolicies } from './canonical-package.ts';
import type { CapabilitySourceKind, CapabilitySpec } from './capability.ts';
import type { ProviderRoute } from './package-parts.ts';
import { createPackage, frozenCopy, type RuntimePackage } from './runtime-package.ts';
import { serializeRoute, type ToolRoute } from './tool-router.ts';
import { validatePackage } from './validate-package.ts';

export interface CompiledToolFacts {
  readonly name: string;
  readonly effect: EffectClass;
  readonly risk: RiskClass;
  /** Digest of the tool's published JSON Schema. */
  readonly schemaDigest: string;
  /** Tools that run elsewhere bring their own executor, namespace, id and source. */
  readonly executorRef?: string;
  readonly namespace?: string;
  readonly capabilityId?: string;
  readonly source?: SourceRef;
}

export interface CompileInput {
  readonly packageId: string;
  readonly agentId: string;
  readonly registryFingerprint: string;
  readonly tools: readonly CompiledToolFacts[];
  /** Policies in addition to the registry's own that govern the package and every route. */
  readonly policyRefs?: readonly PolicyRef[];
  readonly providerRoute?: ProviderRoute;
}

export interface CompiledPackage {
  readonly package: RuntimePackage;
  readonly routes: readonly ToolRoute[];
}

/** Which model drives the session is the embedding program's business. */
const UNBOUND_PROVIDER: ProviderRoute = { route_id: 'provider.unbound', model_id: 'model.unbound' };

const SDK_SOURCE: SourceRef = { kind: 'sdk', id: 'tool-runtime', trust: 'sdk_generated', privacy: 'internal' };

const CAPABILITY_SOURCES: Partial<Readonly<Record<SourceKind, CapabilitySourceKind>>> = {
  sdk: 'sdk_built_in',
  extension: 'extension',
  subagent: 'subagent',
  external_runtime: 'tool_pack',
};

/** Throws E_VALIDATION_FAIL when the facts make no valid package, such as two tools of one name. */
export function compilePackage(input: CompileInput): CompiledPackage {
  const registryPolicy: PolicyRef = { kind: 'permission', id: 'policy.registry', version: input.registryFingerprint };
  const policyRefs = distinctPolicies([registryPolicy, ...(input.policyRefs ?? [])]);
  const compiled = input.tools.map((facts) => {
    const route = routeOf(facts, policyRefs);
    return { route, capability: capabilityOf(route, facts.schemaDigest, registryPolicy) };
  });
  const pkg = createPackage({
    package_id: input.packageId,
    agent: { agent_id: input.agentId },
    provider_route: input.providerRoute ?? UNBOUND_PROVIDER,
    capabilities: compiled.map(({ capability }) => capability),
    policies: { policy_refs: policyRefs },
  });
  validatePackage(pkg);
  return { package: pkg, routes: compiled.map(({ route }) => route) };
}

type ExecutableToolRoute = ToolRoute & { readonly executor_ref: ExecutorRef };

function routeOf(facts: CompiledToolFacts, policyRefs: readonly PolicyRef[]): ExecutableToolRoute {
  return frozenCopy<ExecutableToolRoute>({
    capability_id: facts.capabilityId ?? `tool.${facts.name}`,
    canonical_tool_name: facts.name,
    namespace: facts.namespace ?? 'tool-runtime',
    source: facts.source ?? SDK_SOURCE,
    destination: { kind: 'tool', id: facts.name },
    executor_ref: facts.executorRef ?? `executor.tool.${facts.name}`,
    policy_refs: policyRefs,
    sidecar_refs: [],
    effect_class: facts.effect,
    risk_class: facts.risk,
    privacy: 'internal',
    retention: 'run_scoped',
  });
}

function capabilityOf(route: ExecutableToolRoute, schemaDigest: string, policyRef: PolicyRef): CapabilitySpec {
  const { capability_id, namespace, executor_ref, privacy, source } = route;
  return {
    capability_id,
    kind: 'tool',
    source: { kind: CAPABILITY_SOURCES[source.kind] ?? 'host_provided', source_ref: source },
    namespace,
    version: digest(canonicalText(serializeRoute(route))),
    visibility: 'active',
    projection: { type: 'provider_tool_schema', schema_ref: schemaDigest },
    executor_ref,
    policy_ref: policyRef,
    sidecar_refs: [],
    privacy,
    readiness: { status: 'active' },
  };
}

/** Sorted, so that the order in which a host lists its policies does not reach the digests. */
function distinctPolicies(refs: readonly PolicyRef[]): readonly PolicyRef[] {
  return sortedPolicies([...new Map(refs.map((ref) => [canonicalText(ref), ref])).values()]);
}
