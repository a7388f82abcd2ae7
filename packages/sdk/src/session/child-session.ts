/** What a parent asks for when it opens a child session, and what it holds afterwards. */
import type { ContentRef, PolicyRef } from '../contracts/refs.ts';
import type { Budgets, CapabilityPolicy } from '../contracts/registry.ts';
import type { ChildRoutePolicy, ChildToolPolicy } from '../package/child-tool-policy.ts';
import type { ContextHandoff, HandoffVariant } from '../package/context-handoff.ts';
import type { DepthBudget } from '../package/depth-budget.ts';
import type { StripManifest } from '../package/package-parts.ts';
import type { Session } from './session.ts';

/** `reclaimable` children outlive their parent: the next ancestor takes them over. */
export const CHILD_LIFECYCLES = ['parent_owned', 'reclaimable'] as const;
export type ChildLifecycleName = (typeof CHILD_LIFECYCLES)[number];

export interface ChildOptions {
  /** Who the child is; appears in records and in the child's package. */
  readonly agentId: string;
  /** What it keeps of the parent's tools; read-only by default. A list names tools. */
  readonly tools?: ChildToolPolicy | readonly string[];
  /** What it is given of the parent's conversation; nothing by default. */
  readonly handoff?: ContextHandoff;
  readonly route?: ChildRoutePolicy;
  /** Route ids that `route` may choose in addition to the parent's. */
  readonly allowedRoutes?: readonly string[];
  /** A further ceiling; asking for more than the parent has is an error. */
  readonly capabilities?: CapabilityPolicy;
  /** A registry that can only narrow the parent's. */
  readonly registry?: { readonly text: string; readonly file: string };
  /** Folder of the parent's workspace that becomes the whole workspace of the child. */
  readonly folder?: string;
  /**
   * Name of a workspace that another host has: the child works there, in `folder` of it where one is named. This runtime keeps
   * its records, its share of the budget and its end; `elsewhere` of the child gives the grant under which it works.
   */
  readonly workspace?: string;
  /** Carved out of the parent's budget. */
  readonly budget?: Budgets;
  /** Lowers how deep and how many children the child may have itself. */
  readonly depth?: { readonly maxDepth?: number; readonly maxChildren?: number };
  readonly lifecycle?: ChildLifecycleName;
  readonly heartbeatTimeoutMs?: number;
}

export interface DetachOptions {
  /** Who takes the child over. */
  readonly acknowledgedBy: string;
  /** Under which policy it may be taken back. */
  readonly reclaim: PolicyRef;
}

/** Own calls and those of ended children. */
export interface Usage {
  readonly calls: number;
  readonly errors: number;
  readonly bytes: number;
  readonly duration_ms: number;
}

/** What the child got of the parent's conversation. */
export interface Handoff {
  readonly variant: HandoffVariant;
  readonly refs: readonly ContentRef[];
  readonly policy_refs: readonly PolicyRef[];
  /** Where in the journal the history stands that was passed on whole. */
  readonly audit_ref?: string;
}

export interface ChildSession extends Session {
  readonly agentId: string;
  readonly parentId: string;
  readonly fingerprint: string;
  readonly manifest: StripManifest;
  readonly handoff: Handoff;
  readonly depth: DepthBudget;
  /** Waits for running calls, then ends the child; its usage is on record with the parent's. Refused while it has children. */
  complete(): Promise<Usage>;
  /** Cancels what runs, and its children with it, and ends the child. Refused once it is detached. */
  cancel(reason: string): Promise<Usage>;
  /** The child goes on without its parent, which may then end. Only `reclaimable` children, and where the registry allows it. */
  detach(options: DetachOptions): Promise<void>;
}
