/** The smaller parts of a runtime package: plain records, each identified by its first field. */
import type { TrustClass } from '../contracts/classes.ts';
import type { CapabilityId } from '../contracts/identifiers.ts';
import type { PolicyRef, SourceRef } from '../contracts/refs.ts';
import type { CapabilitySourceKind } from './capability.ts';

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
