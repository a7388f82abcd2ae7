/** The smaller parts of a runtime package: plain records, each identified by its first field. */
import type { TrustClass } from '../contracts/classes.ts';
import type { CapabilityId } from '../contracts/identifiers.ts';
import type { PolicyRef, SourceRef } from '../contracts/refs.ts';
import { digest } from '../platform/digest.ts';
import { canonicalText } from './canonical-package.ts';
import type { CapabilitySourceKind } from './capability.ts';
import type { ChildToolPolicy } from './child-tool-policy.ts';
import type { HandoffVariant } from './context-handoff.ts';

export interface AgentSnapshot {
  readonly agent_id: string;
  readonly name: string;
  readonly default_behavior_refs: readonly PolicyRef[];
}

export interface ProviderRoute {
  readonly route_id: string;
  readonly model_id: string;
  readonly provider_policy_ref?: PolicyRef;
}

export interface ProviderCapabilities {
  readonly capability_version: string;
  readonly realtime_capability_version?: string;
}

export interface OutputContract {
  readonly schema_id: string;
  readonly schema_version: string;
  /** Starts with `sha256:`. */
  readonly schema_fingerprint: string;
}

export interface OutputSink {
  readonly sink_id: string;
  readonly delivery_policy_ref: PolicyRef;
  readonly sink_capability_version?: string;
}

export const ISOLATION_CLASSES = ['host_process', 'sandbox', 'container', 'lightweight_vm', 'remote_sandbox'] as const;
export type IsolationClass = (typeof ISOLATION_CLASSES)[number];

export interface IsolationRequirement {
  readonly isolation_ref: string;
  readonly minimum_class: IsolationClass;
  readonly policy_ref: PolicyRef;
}

/** What discovery found. Candidates are not in the package until a delta activates them. */
export interface CapabilityCatalog {
  readonly catalog_id: string;
  readonly source_kind: CapabilitySourceKind;
  readonly source_ref: SourceRef;
  readonly version?: string;
  readonly content_hash?: string;
  readonly trust_state: TrustClass;
  readonly activation_policy_ref: PolicyRef;
  readonly candidates: readonly CapabilityId[];
}

export interface ChildLifecycle {
  readonly policy_ref: PolicyRef;
  /** What a manual cancel does to running children. */
  readonly manual_cancel: string;
  readonly detach_policy_ref: PolicyRef;
  readonly cleanup_timeout_ms: number;
}

/** Facts of one run that must never move the fingerprint. */
export interface VolatileFields {
  readonly run_id?: string;
  readonly event_id?: string;
  readonly timestamp_ms?: number;
  readonly adapter_health?: string;
  readonly temporary_path?: string;
}

/** Children end with their agent, nothing can be detached, and clean-up has half a minute. */
export const SAFE_CHILD_LIFECYCLE: ChildLifecycle = Object.freeze({
  policy_ref: Object.freeze({ kind: 'runtime_package', id: 'policy.child.safe_default' }),
  manual_cancel: 'cancel_agent_owned_children',
  detach_policy_ref: Object.freeze({ kind: 'runtime_package', id: 'policy.child.detach_denied' }),
  cleanup_timeout_ms: 30_000,
});

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

/** Sidecars: typed facts beside a package, held by hash, so that whatever depends on them moves the fingerprint. */
export function isRefTo(ref: PackageSidecarRef, sidecar: PackageSidecar): boolean {
  return (
    ref.sidecar_id === sidecar.sidecar_id &&
    ref.kind === sidecar.kind &&
    ref.version === sidecar.version &&
    (ref.content_hash === undefined || ref.content_hash === sidecar.content_hash)
  );
}

export interface StripManifest {
  readonly parent_package_fingerprint: string;
  readonly child_agent_id: string;
  readonly selected_provider_route_id: string;
  readonly handoff_policy_variant: HandoffVariant;
  readonly tool_policy: ChildToolPolicy;
  readonly recursive_subagent_strip: true;
  /** Sorted; with the retained ids exactly those of the parent. */
  readonly stripped_capability_ids: readonly CapabilityId[];
  readonly retained_capability_ids: readonly CapabilityId[];
  readonly lifecycle_policy_ref: PolicyRef;
  readonly redaction_policy_ref: PolicyRef;
}

const SELF: PackageSidecarRef = Object.freeze({
  sidecar_id: 'sidecar.subagent.child_package_strip_manifest',
  kind: 'subagent_child_package_strip_manifest',
  version: 'v1',
});

/**
 * The record of how a child package was cut from its parent, and the sidecar that ties it to the fingerprint.
 *
 * `sha256:` + hex, equal for equal manifests whatever their key order.
 */
export function manifestHash(manifest: StripManifest): string {
  return digest(canonicalText(manifest));
}

/** Every child has one of this id, so that of a grandchild takes the place of its parent's. */
export function manifestSidecar(manifest: StripManifest): PackageSidecar {
  return {
    ...SELF,
    refs: [SELF],
    policy_refs: [manifest.lifecycle_policy_ref, manifest.redaction_policy_ref],
    content_hash: manifestHash(manifest),
  };
}
