/** The record of how a child package was cut from its parent, and the sidecar that ties it to the fingerprint. */
import type { CapabilityId } from '../contracts/identifiers.ts';
import type { PolicyRef } from '../contracts/refs.ts';
import { digest } from '../platform/digest.ts';
import { canonicalText } from './canonical-package.ts';
import type { ChildToolPolicy } from './child-tool-policy.ts';
import type { HandoffVariant } from './context-handoff.ts';
import type { PackageSidecar, PackageSidecarRef } from './sidecar.ts';

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

/** `sha256:` + hex, equal for equal manifests whatever their key order. */
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
