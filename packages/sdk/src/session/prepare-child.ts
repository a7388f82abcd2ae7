/**
 * Everything that may refuse a child, before anything is recorded: depth, handoff, route, tools, ceiling, folder,
 * budget.
 *
 * The result is ready to open. The caller must open it or `drop` it: the share of the budget and the folder are already
 * held.
 */
import type { ToolError } from '@tool-runtime/protocol';
import type { SessionParts } from '../call/state/session-parts.ts';
import { contractViolation, policyDenial } from '../contracts/failures.ts';
import { checkId } from '../contracts/identifiers.ts';
import type { Budgets, CapabilityPolicy, Registry } from '../contracts/registry.ts';
import {
  buildChildPackage,
  type ChildPackage,
  type ChildPackagePolicy,
  childPackageDefaults,
} from '../package/build-child-package.ts';
import type { ChildToolPolicy, DeclaredEffect } from '../package/child-tool-policy.ts';
import {
  type ContextHandoff,
  handoffContentRefs,
  handoffPolicyRefs,
  NO_HANDOFF,
  validateHandoff,
} from '../package/context-handoff.ts';
import { childBudget, type DepthBudget } from '../package/depth-budget.ts';
import { nearestName } from '../text/names.ts';
import type { ChildLifecycleName, ChildOptions, Handoff } from './child-session.ts';
import type { OpenFolder, RuntimeParts } from './compile-session.ts';
import type { CarvedBudget, SessionBudget } from './session-budget.ts';

export interface Parent {
  readonly parts: SessionParts;
  readonly runtime: RuntimeParts;
  readonly depth: DepthBudget;
  readonly budget: SessionBudget;
  /** It, or an ancestor, is a child of a session on another host, and ends with that one. */
  readonly isTied: boolean;
}

export interface PreparedChild {
  readonly agentId: string;
  readonly lifecycle: ChildLifecycleName;
  readonly built: ChildPackage;
  readonly handoff: Handoff;
  readonly depth: DepthBudget;
  readonly registry: Registry;
  /** What was carved. */
  readonly share: Budgets;
  readonly budget: CarvedBudget;
  /** The parent's own, or the same on the child's folder. */
  readonly runtime: RuntimeParts;
  /** Gives everything back. */
  drop(): Promise<void>;
}

const RECLAIMABLE = { kind: 'runtime_package', id: 'policy.child.reclaimable' } as const;

/** Throws E_VALIDATION_FAIL or E_POLICY; then nothing is held. */
export async function prepareChild(options: ChildOptions, parent: Parent): Promise<PreparedChild> {
  const agentId = checkId(options.agentId, 'agent_id');
  const lifecycle = options.lifecycle ?? 'parent_owned';
  const handoff = options.handoff ?? NO_HANDOFF;
  const built = buildPackage(options, handoff, parent);
  const depth = lowerDepth(childBudget(parent.depth), options.depth);
  const registry =
    options.registry === undefined
      ? parent.parts.registry
      : await parent.runtime.narrowRegistry(parent.parts.registry, options.registry);
  const share = shareOf(options, registry, parent.parts.registry);
  checkElsewhere(options, share, parent);
  const isHere = options.workspace === undefined;
  const place = await openPlace(isHere ? folderOf(options) : undefined, parent.runtime);
  try {
    const budget = parent.budget.carve(share);
    return {
      agentId,
      lifecycle,
      built,
      handoff: handedOver(handoff, parent.parts),
      depth,
      registry,
      share,
      budget,
      runtime: place.runtime,
      async drop() {
        budget.release();
        await place.close();
      },
    };
  } catch (thrown) {
    await place.close();
    throw thrown;
  }
}

function buildPackage(options: ChildOptions, handoff: ContextHandoff, { parts }: Parent): ChildPackage {
  // Checked before the tools: for a forbidden handoff no names need to be searched.
  validateHandoff(handoff);
  return buildChildPackage({
    parent: parts.package,
    routes: parts.snapshot.routes,
    annotations: declaredEffects(parts),
    childAgentId: options.agentId,
    routePolicy: options.route ?? { type: 'inherit_parent' },
    handoff,
    childPolicy: packagePolicy(options, parts),
    ...(options.tools === undefined ? {} : { toolPolicy: toolPolicy(options.tools, parts) }),
  });
}

function declaredEffects(parts: SessionParts): ReadonlyMap<string, DeclaredEffect> {
  const annotated = [...parts.tools.values()].filter((compiled) => compiled.annotated);
  return new Map(annotated.map(({ route, annotations }) => [route.capability_id, annotations]));
}

function packagePolicy({ allowedRoutes, lifecycle }: ChildOptions, parts: SessionParts): ChildPackagePolicy {
  return {
    ...childPackageDefaults(parts.snapshot.runtime_package_fingerprint),
    ...(allowedRoutes === undefined ? {} : { allowed_route_overrides: allowedRoutes }),
    ...(lifecycle === 'reclaimable' ? { child_lifecycle_bounds: RECLAIMABLE } : {}),
  };
}

/** Names are easier to write than capability ids. */
function toolPolicy(tools: ChildToolPolicy | readonly string[], { snapshot }: SessionParts): ChildToolPolicy {
  if (!isNames(tools)) return tools;
  const ids = tools.map((name) => snapshot.findByName(name)?.capability_id ?? unknownTool(name, snapshot.routes));
  return { type: 'custom_allowlist', capability_ids: ids };
}

function isNames(tools: ChildToolPolicy | readonly string[]): tools is readonly string[] {
  return Array.isArray(tools);
}

function unknownTool(name: string, routes: readonly { readonly canonical_tool_name: string }[]): never {
  const names = routes.map((route) => route.canonical_tool_name);
  const nearest = nearestName(name, names);
  throw contractViolation(`Child asks for a tool its parent does not have: ${String(name).slice(0, 64)}`, {
    field: 'tools',
    ...(nearest === undefined ? {} : { nearest }),
    next: nearest === undefined ? 'list only tools of the parent' : `list ${nearest} if that was meant`,
  });
}

/** Levels are counted below the child: none means that it cannot have children. */
function lowerDepth(budget: DepthBudget, asked: ChildOptions['depth'] = {}): DepthBudget {
  const maxDepth = asked.maxDepth === undefined ? budget.max_depth : budget.current_depth + whole(asked.maxDepth);
  const maxChildren = asked.maxChildren === undefined ? budget.max_children : whole(asked.maxChildren);
  if (maxDepth > budget.max_depth) throw deeper('max_depth', budget.max_depth - budget.current_depth);
  if (maxChildren > budget.max_children) throw deeper('max_children', budget.max_children);
  return Object.freeze({ current_depth: budget.current_depth, max_depth: maxDepth, max_children: maxChildren });
}

function whole(count: number): number {
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw contractViolation('Count is not a whole number from zero up: depth', { field: 'depth' });
}

function deeper(field: string, limit: number): ToolError {
  return policyDenial(`Child asks for more than its parent may give: depth.${field}`, {
    path: `depth.${field}`,
    details: { gate: 'depth', reason: 'depth_overreach', limit, next: `ask for at most ${limit}` },
  });
}

/** What was asked for, and what a narrower registry grants less than the parent's. */
function shareOf({ budget = {} }: ChildOptions, narrowed: Registry, parent: Registry): Budgets {
  const share: Record<string, number> = {};
  for (const limit of ['max_calls', 'max_bytes', 'max_duration_ms'] as const) {
    const lower = narrowed.budgets[limit] === parent.budgets[limit] ? undefined : narrowed.budgets[limit];
    const amounts = [budget[limit], lower].filter((amount) => amount !== undefined);
    if (amounts.length > 0) share[limit] = Math.min(...amounts);
    if (amounts.some((amount) => !Number.isFinite(amount) || amount < 0)) throw badShare(limit);
  }
  return share;
}

function badShare(limit: string): ToolError {
  return contractViolation(`Share of a budget is not a number from zero up: ${limit}`, { field: `budget.${limit}` });
}

/** Another host cannot draw on a limit of this one, so the child takes its share along; and it ends with its parent. */
function checkElsewhere({ workspace, lifecycle }: ChildOptions, share: Budgets, parent: Parent): void {
  // What is left of a share goes back when the session that has it ends: nothing may go on with it there.
  if (lifecycle === 'reclaimable' && (workspace !== undefined || parent.isTied)) {
    throw contractViolation('Child on another host ends with its parent: lifecycle reclaimable', {
      field: 'lifecycle',
      next: 'leave lifecycle out',
    });
  }
  if (workspace === undefined) return;
  checkId(workspace, 'workspace');
  if (parent.runtime.isFolder) throw boundToFolder();
  const [missing] = Object.keys(parent.budget.limits()).filter((limit) => share[limit as keyof Budgets] === undefined);
  if (missing === undefined) return;
  throw policyDenial(`Child on another host needs a share of its own: budget.${missing}`, {
    path: `budget.${missing}`,
    details: { gate: 'budget', reason: 'budget_share_missing', next: `give budget.${missing}` },
  });
}

/** Under another name, or by a way over a third workspace, it would see what its parent does not. */
function boundToFolder(): ToolError {
  return policyDenial('Session is confined to a folder, and so are its children: workspace', {
    path: 'workspace',
    details: { gate: 'session', reason: 'folder_bound', next: 'leave workspace out, or ask the parent to open it' },
  });
}

/** Only refs and policies of the parent are passed on, and for a whole history its position in the journal. */
function handedOver(handoff: ContextHandoff, { journal }: SessionParts): Handoff {
  const { seq, mac } = journal.head();
  return {
    variant: handoff.type,
    refs: handoffContentRefs(handoff),
    policy_refs: handoffPolicyRefs(handoff),
    ...(handoff.type === 'full_history_with_policy' ? { audit_ref: `journal:${seq}:${mac}` } : {}),
  };
}

/**
 * Where a session works: the whole workspace, or one folder of it, which then is the whole workspace to the session. A
 * ceiling may also name the folder. Throws E_VALIDATION_FAIL for more than one.
 */
export function folderOf(asked: {
  readonly folder?: string | undefined;
  readonly capabilities?: CapabilityPolicy | undefined;
}): string | undefined {
  const { folder, capabilities } = asked;
  const roots = capabilities?.workspace_roots;
  const [root] = roots ?? [];
  const isOne = roots === undefined || (roots.length === 1 && (folder === undefined || root === folder));
  if (isOne) return folder ?? root;
  throw contractViolation('A session works in exactly one folder: capabilities.workspace_roots', {
    field: 'capabilities.workspace_roots',
    next: 'name one folder; open a session for each of the others',
  });
}

export async function openPlace(folder: string | undefined, runtime: RuntimeParts): Promise<OpenFolder> {
  return folder === undefined ? { runtime, close: async () => {} } : runtime.openFolder(folder);
}

/** The folder is part of the place by now; a ceiling that still named it would be meant from inside. */
export function withoutRoots(capabilities: CapabilityPolicy | undefined): CapabilityPolicy | undefined {
  if (capabilities?.workspace_roots === undefined) return capabilities;
  const { workspace_roots: _, ...rest } = capabilities;
  return rest;
}
