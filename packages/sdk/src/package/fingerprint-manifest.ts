/** What a fingerprint covers, written into the package for auditors. Always computed, never believed. */
import { type CapabilitySpec, isReservedKind } from './capability.ts';

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
export type FingerprintedGroup = (typeof INCLUDED_GROUPS)[number];

/** `hooks` count through their sidecars; the rest differs between runs of one and the same package. */
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
