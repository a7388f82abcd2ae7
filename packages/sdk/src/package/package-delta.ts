/**
 * Changes a package by making the next one. Discovery never touches a live package: what a delta activates counts
 * from the next session on, because a running one holds the package it was opened with.
 */
import { contractViolation } from '../contracts/failures.ts';
import type { CapabilityId } from '../contracts/identifiers.ts';
import type { SourceRef } from '../contracts/refs.ts';
import type { CapabilitySpec } from './capability.ts';
import { fingerprintPackage } from './fingerprint.ts';
import type { CapabilityCatalog, PackageSidecar } from './package-parts.ts';
import { createPackage, type RuntimePackage } from './runtime-package.ts';
import { validatePackage } from './validate-package.ts';

export interface PackageDelta {
  readonly previous_fingerprint: string;
  readonly requested_by: SourceRef;
  readonly reason: string;
  readonly activated_capabilities?: readonly CapabilitySpec[];
  /** Removed before anything is added, so one delta can replace a capability. */
  readonly deactivated_capability_ids?: readonly CapabilityId[];
  readonly catalogs?: readonly CapabilityCatalog[];
  readonly sidecars?: readonly PackageSidecar[];
}

/** Throws E_VALIDATION_FAIL when the delta was made for another package, or when what it makes is not valid. */
export function applyDelta(pkg: RuntimePackage, delta: PackageDelta): RuntimePackage {
  if (delta.previous_fingerprint !== fingerprintPackage(pkg)) {
    throw contractViolation('Delta was made for another package: previous_fingerprint', {
      field: 'previous_fingerprint',
      next: 'Build the delta from the package that is in force now',
    });
  }
  const removed = new Set(delta.deactivated_capability_ids);
  const known = new Set(pkg.capabilities.map((capability) => capability.capability_id));
  const unknown = [...removed].filter((id) => !known.has(id));
  if (unknown.length > 0) {
    throw contractViolation('Delta removes what the package does not have: deactivated_capability_ids', {
      field: 'deactivated_capability_ids',
      unknown,
    });
  }
  const kept = pkg.capabilities.filter((capability) => !removed.has(capability.capability_id));
  const next = createPackage({
    ...pkg,
    capabilities: [...kept, ...(delta.activated_capabilities ?? [])],
    catalogs: [...pkg.catalogs, ...(delta.catalogs ?? [])],
    sidecars: [...pkg.sidecars, ...(delta.sidecars ?? [])],
  });
  validatePackage(next);
  return next;
}
