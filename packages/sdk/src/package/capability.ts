/**
 * One thing a package offers: who provides it, who sees it, what runs it, which policy governs it.
 *
 * Only kind `tool` may be active, projected or executable; the other kinds are reserved names that a package may list
 * but cannot be reached yet. `hidden` with an executor is legal: callable by its route, not shown to a model.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { PRIVACY_CLASSES, type PrivacyClass } from '../contracts/classes.ts';
import { contractViolation, missingField } from '../contracts/failures.ts';
import type { CapabilityId, ExecutorRef } from '../contracts/identifiers.ts';
import type { PolicyRef, SourceRef } from '../contracts/refs.ts';
import type { PackageSidecarRef } from './package-parts.ts';
import { explicitPolicyProblems, idProblems, policyRefProblems, throwProblems, unknownValue } from './problems.ts';

export const CAPABILITY_KINDS = [
  'tool',
  'mcp_tool',
  'mcp_resource',
  'tool_discovery_candidate',
  'agent_as_tool',
  'extension_action',
  'stream_control',
  'realtime_action',
] as const;
export type CapabilityKind = (typeof CAPABILITY_KINDS)[number];

export const CAPABILITY_SOURCE_KINDS = [
  'sdk_built_in',
  'host_provided',
  'tool_pack',
  'mcp_server',
  'extension',
  'subagent',
  'discovery_index',
] as const;
export type CapabilitySourceKind = (typeof CAPABILITY_SOURCE_KINDS)[number];

export interface CapabilitySource {
  readonly kind: CapabilitySourceKind;
  readonly source_ref: SourceRef;
  readonly adapter_ref?: string;
}

export const CAPABILITY_VISIBILITIES = ['active', 'hidden'] as const;
export type CapabilityVisibility = (typeof CAPABILITY_VISIBILITIES)[number];

const PROJECTION_TYPES = [
  'not_projected',
  'descriptor_only',
  'provider_tool_schema',
  'produces_context_items',
  'projects_context_refs',
] as const;

/** What of the capability a model gets to see. */
export type Projection =
  | { readonly type: 'not_projected' }
  | { readonly type: 'descriptor_only' }
  | { readonly type: 'provider_tool_schema'; readonly schema_ref: string }
  | { readonly type: 'produces_context_items'; readonly allowed_kinds: readonly string[] }
  | { readonly type: 'projects_context_refs'; readonly allowed_ref_kinds: readonly string[] };

export const READINESS_STATUSES = ['active', 'reserved_inactive'] as const;

export interface CapabilityReadiness {
  readonly status: (typeof READINESS_STATUSES)[number];
  readonly owner_role?: string;
}

export interface CapabilitySpec {
  readonly capability_id: CapabilityId;
  readonly kind: CapabilityKind;
  readonly source: CapabilitySource;
  readonly namespace: string;
  readonly version: string;
  readonly visibility: CapabilityVisibility;
  readonly projection: Projection;
  readonly executor_ref?: ExecutorRef;
  readonly policy_ref: PolicyRef;
  readonly sidecar_refs: readonly PackageSidecarRef[];
  /** Names one of the package's isolation requirements. */
  readonly isolation_ref?: string;
  readonly privacy: PrivacyClass;
  readonly readiness: CapabilityReadiness;
}

/** The part of a capability that a route must agree with. */
export interface ExecutableRoute {
  readonly capability_id: CapabilityId;
  readonly executor_ref: ExecutorRef;
  readonly policy_ref: PolicyRef;
}

export function isReservedKind(kind: CapabilityKind): boolean {
  return kind !== 'tool';
}

function isProjected(capability: CapabilitySpec): boolean {
  return capability.projection.type !== 'not_projected';
}

export function isProviderVisible(capability: CapabilitySpec): boolean {
  return capability.visibility === 'active' && isProjected(capability);
}

/** Exists exactly when an executor is named. */
export function executableRoute(capability: CapabilitySpec): ExecutableRoute | undefined {
  const { capability_id, executor_ref, policy_ref } = capability;
  return executor_ref === undefined ? undefined : { capability_id, executor_ref, policy_ref };
}

/** Throws the first problem; `details.problems` lists all of them. */
export function validateCapability(capability: CapabilitySpec): void {
  throwProblems(capabilityProblems(capability, 'capability'));
}

/** Every problem of one capability; `at` is how its fields are named in messages. */
export function capabilityProblems(capability: CapabilitySpec, at: string): ToolError[] {
  const { capability_id, namespace, version, executor_ref } = capability;
  return [
    ...idProblems({ capability_id, namespace, version }, at),
    ...(executor_ref === undefined ? [] : idProblems({ executor_ref }, at)),
    ...vocabularyProblems(capability, at),
    ...policyRefProblems(capability.policy_ref, `${at}.policy_ref`),
    ...(isReservedKind(capability.kind) ? reservedProblems(capability, at) : []),
    ...(isProviderVisible(capability) ? visibleProblems(capability, at) : []),
  ];
}

function vocabularyProblems(capability: CapabilitySpec, at: string): ToolError[] {
  const known: Readonly<Record<string, boolean>> = {
    kind: CAPABILITY_KINDS.includes(capability.kind),
    'source.kind': CAPABILITY_SOURCE_KINDS.includes(capability.source.kind),
    visibility: CAPABILITY_VISIBILITIES.includes(capability.visibility),
    'projection.type': PROJECTION_TYPES.includes(capability.projection.type),
    privacy: PRIVACY_CLASSES.includes(capability.privacy),
    'readiness.status': READINESS_STATUSES.includes(capability.readiness.status),
  };
  return Object.entries(known).flatMap(([field, isKnown]) => (isKnown ? [] : [unknownValue(`${at}.${field}`)]));
}

function reservedProblems(capability: CapabilitySpec, at: string): ToolError[] {
  const reached: Readonly<Record<string, boolean>> = {
    visibility: capability.visibility === 'active',
    projection: isProjected(capability),
    executor_ref: capability.executor_ref !== undefined,
    'readiness.status': capability.readiness.status === 'active',
  };
  return Object.entries(reached).flatMap(([field, isReached]) =>
    isReached
      ? [
          contractViolation(`Reserved capability kind cannot be put to use: ${at}.${field}`, {
            field: `${at}.${field}`,
          }),
        ]
      : [],
  );
}

function visibleProblems(capability: CapabilitySpec, at: string): ToolError[] {
  const problems = capability.executor_ref === undefined ? [missingField(`${at}.executor_ref`)] : [];
  // A missing ref was reported with the other fields already.
  if (capability.policy_ref?.kind === 'host') {
    problems.push(...explicitPolicyProblems(capability.policy_ref, `${at}.policy_ref`));
  }
  if (capability.readiness.status !== 'active') {
    const field = `${at}.readiness.status`;
    problems.push(contractViolation(`Visible capability is not ready: ${field}`, { field }));
  }
  return problems;
}
