/**
 * The form of a package that is hashed: lists in one order, computed manifest, no facts of a run.
 *
 * Strings are compared by UTF-16 code unit, as RFC 8785 orders keys, so fingerprints do not depend on the locale.
 */
import type { JsonValue } from '@tool-runtime/protocol';
import type { PolicyRef } from '../contracts/refs.ts';
import { canonicalJson } from '../platform/digest.ts';
import { type CapabilitySpec, isReservedKind, type Projection } from './capability.ts';
import type { AgentSnapshot, CapabilityCatalog, PackageSidecar, PackageSidecarRef } from './package-parts.ts';
import type { RuntimePackage } from './runtime-package.ts';

export type CanonicalPackage = Pick<RuntimePackage, FingerprintedGroup | 'fingerprint_manifest'>;

export function canonicalPackage(pkg: RuntimePackage): CanonicalPackage {
  return {
    schema_version: pkg.schema_version,
    package_id: pkg.package_id,
    agent: canonicalAgent(pkg.agent),
    provider_route: pkg.provider_route,
    provider_capabilities: pkg.provider_capabilities,
    output_contracts: sorted(pkg.output_contracts, (contract) => contract.schema_id),
    output_sinks: sorted(pkg.output_sinks, (sink) => sink.sink_id),
    capabilities: sorted(pkg.capabilities.map(canonicalCapability), (capability) => capability.capability_id),
    sidecars: sorted(pkg.sidecars.map(canonicalSidecar), (sidecar) => sidecar.sidecar_id),
    isolation_requirements: sorted(pkg.isolation_requirements, (requirement) => requirement.isolation_ref),
    catalogs: sorted(pkg.catalogs.map(canonicalCatalog), (catalog) => catalog.catalog_id),
    child_lifecycle: pkg.child_lifecycle,
    policies: { policy_refs: sortedPolicies(pkg.policies.policy_refs) },
    fingerprint_manifest: fingerprintManifest(pkg.capabilities),
  };
}

/** Text that is equal for equal data, whatever the key order. */
export function canonicalText(data: object): string {
  // The package types are interfaces, which TypeScript does not match against an index signature; they hold only JSON.
  return canonicalJson(data as unknown as JsonValue);
}

export function canonicalSidecar(sidecar: PackageSidecar): PackageSidecar {
  return { ...sidecar, refs: sortedRefs(sidecar.refs), policy_refs: sortedPolicies(sidecar.policy_refs) };
}

function canonicalCapability(capability: CapabilitySpec): CapabilitySpec {
  return {
    ...capability,
    projection: canonicalProjection(capability.projection),
    sidecar_refs: sortedRefs(capability.sidecar_refs),
  };
}

function canonicalAgent(agent: AgentSnapshot): AgentSnapshot {
  return { ...agent, default_behavior_refs: sortedPolicies(agent.default_behavior_refs) };
}

function canonicalCatalog(catalog: CapabilityCatalog): CapabilityCatalog {
  return { ...catalog, candidates: [...catalog.candidates].sort() };
}

function canonicalProjection(projection: Projection): Projection {
  switch (projection.type) {
    case 'produces_context_items':
      return { ...projection, allowed_kinds: [...projection.allowed_kinds].sort() };
    case 'projects_context_refs':
      return { ...projection, allowed_ref_kinds: [...projection.allowed_ref_kinds].sort() };
    default:
      return projection;
  }
}

function sortedRefs(refs: readonly PackageSidecarRef[]): readonly PackageSidecarRef[] {
  return sorted(refs, (ref) => ref.sidecar_id);
}

/** By kind, id and version. */
export function sortedPolicies(refs: readonly PolicyRef[]): readonly PolicyRef[] {
  // Ids hold no control characters, so the separator cannot be forged.
  return sorted(refs, (ref) => `${ref.kind}\0${ref.id}\0${ref.version ?? ''}`);
}

/** Equal keys fall back to the whole content: a stable sort alone would keep the author's order. */
function sorted<T extends object>(items: readonly T[], keyOf: (item: T) => string): readonly T[] {
  return [...items].sort((a, b) => compare(keyOf(a), keyOf(b)) || compare(canonicalText(a), canonicalText(b)));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export const FINGERPRINT_ALGORITHM = 'sha256:runtime-package-canonical-v1';
export const CANONICAL_SCHEMA_VERSION = 1;

const INCLUDED_GROUPS = [
  'agent',
  'capabilities',
  'catalogs',
  'child_lifecycle',
  'isolation_requirements',
  'output_contracts',
  'output_sinks',
  'package_id',
  'policies',
  'provider_capabilities',
  'provider_route',
  'schema_version',
  'sidecars',
] as const;

/** The package fields that are hashed in addition to the manifest itself. */
type FingerprintedGroup = (typeof INCLUDED_GROUPS)[number];

/** `hooks` count through their sidecars; the rest differs between runs of the same package. */
const EXCLUDED_GROUPS = [
  'adapter_health',
  'event_ids',
  'hooks',
  'live_approval_ids',
  'queue_sizes',
  'raw_absolute_paths',
  'run_ids',
  'telemetry_health',
  'temporary_paths',
  'timestamps',
] as const;

export interface FingerprintManifest {
  readonly algorithm: string;
  readonly canonical_schema_version: number;
  readonly included_groups: readonly string[];
  readonly excluded_groups: readonly string[];
  /** Reserved capability kinds that the package names. */
  readonly reserved_features: readonly string[];
}

/** What a fingerprint covers, written into the package for auditors. Always computed, never taken from the input. */
export function fingerprintManifest(capabilities: readonly CapabilitySpec[]): FingerprintManifest {
  const reserved = capabilities.map((capability) => capability.kind).filter(isReservedKind);
  return {
    algorithm: FINGERPRINT_ALGORITHM,
    canonical_schema_version: CANONICAL_SCHEMA_VERSION,
    included_groups: INCLUDED_GROUPS,
    excluded_groups: EXCLUDED_GROUPS,
    reserved_features: [...new Set(reserved)].sort(),
  };
}
