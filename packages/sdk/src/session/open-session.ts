/** Opens a session: narrows the registry, freezes the snapshot, puts the opening on record. */
import { ToolError } from '@tool-runtime/protocol';
import type { SessionParts } from '../call/state/session-parts.ts';
import { settle } from '../call/state/settle.ts';
import { checkId } from '../contracts/identifiers.ts';
import type { SessionRecord } from '../contracts/journal.ts';
import type { CapabilityPolicy, Registry } from '../contracts/registry.ts';
import type { MaybePromise } from '../contracts/workspace.ts';
import { type DepthBudget, depthBudget } from '../package/depth-budget.ts';
import { intersectPolicies } from '../policy/intersect-policy.ts';
import { type ChildGrant, depthOfGrant } from './child-grant.ts';
import type { Usage } from './child-session.ts';
import { compileSession, type RuntimeParts, type SessionIdentity } from './compile-session.ts';
import { discoverTools, type HiddenTool, hiddenTools, type ToolListing } from './discover-tools.ts';
import { type ChildBinding, Family } from './family.ts';
import type { Keeper } from './member.ts';
import { folderOf, openPlace, withoutRoots } from './prepare-child.ts';
import { createSession, type Session } from './session.ts';
import { addUsage, createSessionBudget, NO_USAGE, usageOf } from './session-budget.ts';
import { WorkElsewhere } from './work-elsewhere.ts';

export interface OpenSessionInput {
  /** Of the parent's host, for a child of a session there. The registry is narrowed by it already. */
  readonly grant?: ChildGrant | undefined;
  readonly actor: string;
  readonly client: string;
  /** The runtime's registry, or one that was narrowed from it. */
  readonly registry: Registry;
  readonly capabilities: CapabilityPolicy | undefined;
  readonly heartbeatTimeoutMs: number | undefined;
  readonly approvals: 'none' | undefined;
}

/** What a session of this kind could use, without opening one: nothing is recorded, started or kept. */
export function previewSession(input: OpenSessionInput, runtime: RuntimeParts): Promise<SessionPreview> {
  return inPreview(input, runtime, (parts) => ({ tools: discoverTools(parts), hidden: hiddenTools(parts) }));
}

/** The parts of such a session, for as long as `use` takes. */
export async function inPreview<T>(
  input: OpenSessionInput,
  runtime: RuntimeParts,
  use: (parts: SessionParts) => MaybePromise<T>,
): Promise<T> {
  const parts = compileSession(identityOf(input, runtime), runtime);
  try {
    return await use(parts);
  } finally {
    parts.http.close();
    await Promise.all([parts.jobs.close(), parts.programs.close()]);
  }
}

export interface SessionPreview {
  readonly tools: readonly ToolListing[];
  readonly hidden: readonly HiddenTool[];
}

function identityOf(input: OpenSessionInput, runtime: RuntimeParts): SessionIdentity {
  const registry = withCapabilities(input.registry, withoutRoots(input.capabilities));
  const depth = rootDepth(registry);
  return {
    sessionId: `sess-${runtime.newId()}`,
    actor: checkId(input.actor, 'session.actor'),
    client: checkId(input.client, 'session.client'),
    registry,
    budget: createSessionBudget(registry.budgets),
    depth: input.grant === undefined ? depth : depthOfGrant(depth, input.grant),
    child: undefined,
    grant: input.grant,
    approvals: input.approvals,
  };
}

/** How deep families go where the registry says nothing. */
const DEFAULT_RECURSION_LIMIT = 8;

function rootDepth({ ceiling, children }: Registry): DepthBudget {
  return { ...depthBudget(ceiling.recursion_limit ?? DEFAULT_RECURSION_LIMIT), max_children: children.max_children };
}

/** Takes over whatever a session leaves behind, and hears when it is over. */
export interface SessionOwner extends Keeper {
  onClosed(session: Session): void;
}

export async function openSession(
  input: OpenSessionInput,
  runtime: RuntimeParts,
  owner: SessionOwner,
): Promise<Session> {
  const heartbeatTimeoutMs = checkHeartbeat(input.heartbeatTimeoutMs);
  const place = await openPlace(folderOf({ ...input, folder: input.grant?.folder }), runtime);
  try {
    const identity = identityOf(input, place.runtime);
    return await openMember(identity, { runtime: place.runtime, owner, heartbeatTimeoutMs, leavePlace: place.close });
  } catch (thrown) {
    await place.close();
    throw thrown;
  }
}

interface Opening {
  readonly runtime: RuntimeParts;
  readonly owner: SessionOwner;
  readonly heartbeatTimeoutMs: number | undefined;
  leavePlace(): Promise<void>;
}

async function openMember(identity: SessionIdentity, opening: Opening): Promise<Session> {
  const { runtime, owner, heartbeatTimeoutMs, leavePlace } = opening;
  const { sessionId, child } = identity;
  const parts = compileSession(identity, runtime);
  const fingerprint = parts.snapshot.runtime_package_fingerprint;
  const record = (event: SessionRecord['event']) => sessionRecord(event, identity, fingerprint, runtime);
  await runtime.journal.append([record('opened'), ...(child?.openingRecords ?? [])]);
  runtime.metrics.open(sessionId);
  const family = new Family({
    parts,
    runtime,
    depth: identity.depth,
    budget: identity.budget,
    isTied: identity.grant !== undefined || child?.parent.isTied === true,
    guardian: child?.guardian ?? owner,
    openMember: (binding) => openChild(binding, owner),
  });
  const elsewhere = child?.options.workspace === undefined ? undefined : workOf(identity, child);
  let last: Usage | undefined;
  const usage = (): Usage =>
    last ??
    addUsage(addUsage(usageOf(runtime.metrics.totals(sessionId)), family.usage()), elsewhere?.usage ?? NO_USAGE);
  const session: Session = createSession(parts, {
    heartbeatTimeoutMs,
    family,
    loop: runtime.loop,
    usage,
    budget: () => identity.budget.state(),
    elsewhere,
    explain: (call) => runtime.explain(call, parts),
    onClose: async (reason) => {
      last = usage();
      owner.onClosed(session);
      parts.broker.revokeSession(sessionId);
      parts.http.close();
      parts.reporter.close();
      runtime.metrics.forget(sessionId);
      // Also when it cannot be recorded, everything of the session ends first.
      const records = [...(child?.closingRecords(reason, last) ?? []), record(reason)];
      const recorded = settle(() => runtime.journal.append(records));
      const leave = await endPrograms(parts, leavePlace, runtime);
      const written = await recorded;
      await child?.onClosed(last);
      await leave();
      if (!written.ok) throw written.error;
    },
  });
  return session;
}

/** Answers how to leave the place afterwards. With kept jobs that and the end of the programs wait for them. */
async function endPrograms(
  { jobs, programs }: SessionParts,
  leavePlace: () => Promise<void>,
  { workspaceJobs }: RuntimeParts,
): Promise<() => Promise<void>> {
  const { keptUntil } = await jobs.close();
  if (keptUntil === undefined) {
    await programs.close();
    return leavePlace;
  }
  workspaceJobs.closeAfter(keptUntil, async () => {
    await programs.close();
    await leavePlace();
  });
  return async () => {};
}

async function openChild(child: ChildBinding, owner: SessionOwner): Promise<Session> {
  const { prepared, options, parent, sessionId } = child;
  const identity: SessionIdentity = {
    sessionId,
    // The whole line of descent, so that keys and records of one agent are never taken for another's.
    actor: checkId(`${parent.parts.actor}/${prepared.agentId}`, 'session.actor'),
    client: parent.parts.client,
    registry: withCapabilities(prepared.registry, withoutRoots(options.capabilities)),
    budget: prepared.budget,
    depth: prepared.depth,
    child,
  };
  const heartbeatTimeoutMs = checkHeartbeat(options.heartbeatTimeoutMs);
  // The code that prepared the child also leaves its place.
  const leavePlace = async (): Promise<void> => {};
  return openMember(identity, { runtime: prepared.runtime, owner, heartbeatTimeoutMs, leavePlace });
}

/** What another host is given for a child that works there. Its place is a folder of that host's workspace. */
function workOf({ sessionId, actor, registry, depth }: SessionIdentity, child: ChildBinding): WorkElsewhere {
  const { prepared, options, onTaken } = child;
  const { built, budget, share, agentId } = prepared;
  const folder = folderOf(options);
  return new WorkElsewhere({
    workspace: options.workspace ?? '',
    grant: {
      session_id: sessionId,
      agent_id: agentId,
      actor,
      package: built.package,
      package_fingerprint: built.fingerprint,
      tool_policy: built.manifest.tool_policy,
      registries: registry.sources,
      durability: registry.durability,
      ceiling: withoutRoots(registry.ceiling) ?? {},
      budget: share,
      depth,
      ...(folder === undefined ? {} : { folder }),
    },
    onTaken,
    onSpent: (spent) => budget.draw(spent),
    onLost: () => budget.forfeit(),
  });
}

/** Asking for more than the registry gives is an error, not a silent trim. */
function withCapabilities(registry: Registry, requested: CapabilityPolicy | undefined): Registry {
  if (requested === undefined) return registry;
  return { ...registry, ceiling: intersectPolicies(registry.ceiling, requested) };
}

function checkHeartbeat(limit: number | undefined): number | undefined {
  if (limit === undefined || (Number.isFinite(limit) && limit > 0)) return limit;
  throw new ToolError('E_VALIDATION_FAIL', 'Heartbeat limit must be a positive number of milliseconds', {
    path: 'heartbeatTimeoutMs',
  });
}

function sessionRecord(
  event: SessionRecord['event'],
  identity: SessionIdentity,
  fingerprint: string,
  runtime: RuntimeParts,
): SessionRecord {
  return {
    kind: 'session',
    event,
    session_id: identity.sessionId,
    at_ms: runtime.clock.now(),
    actor: identity.actor,
    client: identity.client,
    package_fingerprint: fingerprint,
    registry_fingerprint: identity.registry.fingerprint,
    ...(identity.child === undefined ? {} : { parent_session_id: identity.child.parent.parts.sessionId }),
    ...(identity.grant === undefined
      ? {}
      : { parent_session_id: identity.grant.session_id, granted_fingerprint: identity.grant.package_fingerprint }),
  };
}
