/** Sidecars: typed facts beside a package, held by hash, so that whatever depends on them moves the fingerprint. */
import type { PolicyRef } from '../contracts/refs.ts';

export interface PackageSidecarRef {
  readonly sidecar_id: string;
  readonly kind: string;
  readonly version: string;
  /** When given, the sidecar must hold exactly this content. */
  readonly content_hash?: string;
}

export interface PackageSidecar {
  readonly sidecar_id: string;
  readonly kind: string;
  readonly version: string;
  /** May name the sidecar itself. */
  readonly refs: readonly PackageSidecarRef[];
  readonly policy_refs: readonly PolicyRef[];
  readonly content_hash: string;
}

export function isRefTo(ref: PackageSidecarRef, sidecar: PackageSidecar): boolean {
  return (
    ref.sidecar_id === sidecar.sidecar_id &&
    ref.kind === sidecar.kind &&
    ref.version === sidecar.version &&
    (ref.content_hash === undefined || ref.content_hash === sidecar.content_hash)
  );
}
