/**
 * The immutable snapshot that binds what a model sees to what can run.
 *
 * `createPackage` fills defaults and freezes; it judges nothing. `validatePackage` judges, and fingerprinting does so
 * first.
 */
import type { PolicyRef } from '../contracts/refs.ts';
import { type FingerprintManifest, fingerprintManifest } from './canonical-package.ts';
import type { CapabilitySpec } from './capability.ts';
import type { HookSpec } from './hook-spec.ts';
import type { PackageSidecar } from './package-parts.ts';
import {
  type AgentSnapshot,
  type CapabilityCatalog,
  type ChildLifecycle,
  type IsolationRequirement,
  type OutputContract,
  type OutputSink,
  type ProviderCapabilities,
  type ProviderRoute,
  SAFE_CHILD_LIFECYCLE,
  type VolatileFields,
} from './package-parts.ts';

export const PACKAGE_SCHEMA_VERSION = 1;

export interface RuntimePackage {
  readonly schema_version: number;
  readonly package_id: string;
  readonly agent: AgentSnapshot;
  readonly provider_route: ProviderRoute;
  readonly provider_capabilities: ProviderCapabilities;
  readonly output_contracts: readonly OutputContract[];
  readonly output_sinks: readonly OutputSink[];
  readonly capabilities: readonly CapabilitySpec[];
  readonly sidecars: readonly PackageSidecar[];
  readonly hooks: readonly HookSpec[];
  readonly isolation_requirements: readonly IsolationRequirement[];
  readonly catalogs: readonly CapabilityCatalog[];
  readonly child_lifecycle: ChildLifecycle;
  readonly policies: { readonly policy_refs: readonly PolicyRef[] };
  readonly fingerprint_manifest: FingerprintManifest;
  readonly volatile: VolatileFields;
}

/** A whole package fits too, which is how one is derived from another; its manifest is computed anew. */
export type PackageInput = Partial<Omit<RuntimePackage, 'agent'>> &
  Pick<RuntimePackage, 'package_id' | 'provider_route'> & {
    readonly agent: Pick<AgentSnapshot, 'agent_id'> & Partial<AgentSnapshot>;
  };

/** Shares nothing with the input. */
export function createPackage(input: PackageInput): RuntimePackage {
  const capabilities = input.capabilities ?? [];
  return frozenCopy({
    schema_version: input.schema_version ?? PACKAGE_SCHEMA_VERSION,
    package_id: input.package_id,
    agent: {
      agent_id: input.agent.agent_id,
      name: input.agent.name ?? input.agent.agent_id,
      default_behavior_refs: input.agent.default_behavior_refs ?? [],
    },
    provider_route: input.provider_route,
    provider_capabilities: input.provider_capabilities ?? { capability_version: 'v1' },
    output_contracts: input.output_contracts ?? [],
    output_sinks: input.output_sinks ?? [],
    capabilities,
    sidecars: input.sidecars ?? [],
    hooks: input.hooks ?? [],
    isolation_requirements: input.isolation_requirements ?? [],
    catalogs: input.catalogs ?? [],
    child_lifecycle: input.child_lifecycle ?? SAFE_CHILD_LIFECYCLE,
    policies: input.policies ?? { policy_refs: [] },
    fingerprint_manifest: fingerprintManifest(capabilities),
    volatile: input.volatile ?? {},
  });
}

/**
 * Deep, frozen copy of plain data: what it returns shares nothing with the input and cannot be changed by anyone.
 *
 * Members that are `undefined` are dropped, as JSON would.
 */
export function frozenCopy<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(copy));
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.freeze(Object.fromEntries(members.map(([key, member]) => [key, copy(member)])));
}
