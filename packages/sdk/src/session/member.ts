/** One child as its family holds it: how it ends, who keeps it, and what of that goes on record. */
import type { JsonObject, ToolError } from '@tool-runtime/protocol';
import type { SessionParts } from '../call/state/session-parts.ts';
import type { TerminalStatus } from '../contracts/classes.ts';
import { contractViolation, failure, policyDenial } from '../contracts/failures.ts';
import { checkId } from '../contracts/identifiers.ts';
import type { ChildRecord, IntentRecord, JournalRecord, ResultRecord } from '../contracts/journal.ts';
import type { ChildPackage } from '../package/build-child-package.ts';
import type { DepthBudget } from '../package/depth-budget.ts';
import { manifestHash } from '../package/package-parts.ts';
import type { ChildSession, DetachOptions, Handoff, Usage } from './child-session.ts';
import type { PreparedChild } from './prepare-child.ts';
import type { CloseOptions, Session } from './session.ts';
import { NO_USAGE } from './session-budget.ts';

/** The owner of a child: the family it was born into, or the one that took it over. */
export interface Keeper {
  /** Who comes next when the keeper itself ends; undefined for the runtime, after which nothing comes. */
  readonly successor: Keeper | undefined;
  adopt(member: Member): void;
  forget(member: Member, usage: Usage): void;
}

export interface MemberSetting {
  /** The parent's. */
  readonly parts: SessionParts;
  readonly facts: ChildFacts;
  readonly prepared: PreparedChild;
  readonly keeper: Keeper;
}

export class Member {
  readonly facts: ChildFacts;
  readonly prepared: PreparedChild;
  readonly #parts: SessionParts;
  #keeper: Keeper;
  #session: Session | undefined;
  #endEvent: ChildEvent | undefined;
  #isDetached = false;

  constructor({ parts, facts, prepared, keeper }: MemberSetting) {
    this.#parts = parts;
    this.facts = facts;
    this.prepared = prepared;
    this.#keeper = keeper;
  }

  get session(): Session {
    if (this.#session === undefined) throw new TypeError('Child has no session yet');
    return this.#session;
  }

  /** What the parent holds: the session, and the ways to end it that only a parent has. */
  bind(session: Session): ChildSession {
    this.#session = session;
    const { agentId, built, handoff, depth } = this.prepared;
    return {
      ...session,
      agentId,
      parentId: this.facts.parentId,
      fingerprint: built.fingerprint,
      manifest: built.manifest,
      handoff,
      depth,
      close: (options) => this.close(options),
      complete: async () => {
        await this.close();
        return session.usage();
      },
      cancel: async (reason) => {
        await this.cancel(reason);
        return session.usage();
      },
      detach: (options) => this.detach(options),
    };
  }

  async close(options: CloseOptions = {}): Promise<void> {
    // Who falls silent is cancelled too, and is on record as expired.
    if (options.cancel === true && options.reason !== 'expired') this.#endEvent ??= 'cancelled';
    await this.session.close(options);
  }

  /** The intention is on record before anything is stopped. */
  async cancel(reason: string): Promise<void> {
    if (this.#isDetached) throw cannotCancel(this.facts.childId);
    await this.note('cancelling', { reason: this.#parts.redact(String(reason)).slice(0, 500) });
    await this.close({ cancel: true });
  }

  async detach({ acknowledgedBy, reclaim }: DetachOptions): Promise<void> {
    this.#requireDetachable();
    checkId(acknowledgedBy, 'detach.acknowledged_by');
    if (reclaim === undefined || reclaim.kind === 'host') throw noReclaimPolicy();
    await this.note('detached', { acknowledged_by: acknowledgedBy, reclaim: `${reclaim.kind}:${reclaim.id}` });
    this.#isDetached = true;
    this.#moveOn();
  }

  /** The parent is gone: the next ancestor takes the child over. */
  async reclaim(): Promise<void> {
    await this.note('reclaimed', { policy: this.prepared.built.manifest.lifecycle_policy_ref.id });
    this.#moveOn();
  }

  closingRecords(reason: 'closed' | 'expired', usage: Usage): readonly JournalRecord[] {
    const event = this.#endEvent ?? (reason === 'expired' ? 'expired' : 'completed');
    const status = event === 'completed' ? 'completed' : 'cancelled';
    this.announce(event);
    return endRecords(this.facts, { event, status, usage, at: this.#parts.clock.now() });
  }

  async closed(usage: Usage): Promise<void> {
    this.#keeper.forget(this, usage);
    await this.prepared.drop();
  }

  announce(event: ChildEvent): void {
    const { parentId, childId, agentId } = this.facts;
    if (!this.#parts.events.hears(parentId, 'progress')) return;
    this.#parts.events.emit(parentId, {
      type: 'EventMessage',
      event: 'ChildChanged',
      request_id: childId,
      progress: { pct: 0, message: `${agentId} ${event}` },
      data: { child_session_id: childId, agent_id: agentId, event },
    });
  }

  async note(event: ChildEvent, details: JsonObject): Promise<void> {
    await this.#parts.journal.append([childRecord(this.facts, event, this.#parts.clock.now(), details)]);
    this.announce(event);
  }

  /** What it used is counted where it ends, and only there. */
  #moveOn(): void {
    const { successor } = this.#keeper;
    if (successor === undefined) return;
    this.#keeper.forget(this, NO_USAGE);
    this.#keeper = successor;
    successor.adopt(this);
  }

  #requireDetachable(): void {
    const { lifecycle } = this.prepared;
    const isAllowed = this.#parts.registry.children.allow_detach;
    if (lifecycle === 'reclaimable' && isAllowed && !this.#isDetached) return;
    throw policyDenial(`Child cannot be detached: ${this.facts.childId}`, {
      details: {
        gate: 'child_lifecycle',
        reason: this.#isDetached ? 'already_detached' : lifecycle === 'reclaimable' ? 'detach_denied' : 'parent_owned',
        ...(isAllowed ? {} : { field: 'children.allow_detach' }),
        next: 'open it with lifecycle reclaimable, under a registry with children.allow_detach',
      },
    });
  }
}

function cannotCancel(childId: string): ToolError {
  return failure(
    'child_lifecycle_failure',
    'not_retryable',
    `Child was detached and is no longer its parent's: ${childId}`,
    {
      details: { gate: 'child_lifecycle', reason: 'detached', next: 'ask the session that took it over' },
    },
  );
}

function noReclaimPolicy(): ToolError {
  return contractViolation('Detaching needs a policy by which the child may be taken back: detach.reclaim', {
    field: 'detach.reclaim',
  });
}

/** Stands where a call's tool would. Not a tool's name: those have no colon. */
const EFFECT_NAME = 'session:child';

const CHILD_EVENTS = [
  'started',
  'handoff',
  'taken',
  'usage',
  'completed',
  'cancelling',
  'cancelled',
  'expired',
  'detached',
  'reclaimed',
] as const;
type ChildEvent = (typeof CHILD_EVENTS)[number];

export interface ChildFacts {
  readonly parentId: string;
  readonly childId: string;
  readonly agentId: string;
  readonly instance: string;
  readonly built: ChildPackage;
  readonly depth: DepthBudget;
  readonly openedAt: number;
}

/**
 * What the journal holds of a child: an intent and a result like any effect, and between them what happened to it.
 */
export function startIntent({ parentId, childId, built, instance, openedAt }: ChildFacts): IntentRecord {
  return {
    kind: 'intent',
    call_id: callIdOf(childId),
    session_id: parentId,
    at_ms: openedAt,
    tool: EFFECT_NAME,
    args_hash: manifestHash(built.manifest),
    // A child that was lost with its process did nothing by itself: its calls have records of their own.
    retry_safe: true,
    instance,
    effect: { effect_id: effectIdOf(childId), kind: 'child_agent_start' },
  };
}

export function startedRecords(facts: ChildFacts, handoff: Handoff, asked: JsonObject): JournalRecord[] {
  const { manifest, fingerprint } = facts.built;
  const { audit_ref, variant, refs, policy_refs } = handoff;
  return [
    childRecord(facts, 'started', facts.openedAt, {
      agent_id: facts.agentId,
      package_fingerprint: fingerprint,
      manifest: manifest as unknown as JsonObject,
      manifest_hash: manifestHash(manifest),
      depth: { ...facts.depth },
      ...asked,
    }),
    childRecord(facts, 'handoff', facts.openedAt, {
      variant,
      refs: refs.map((ref) => ref.id),
      policy_refs: policy_refs.map(({ kind, id }) => `${kind}:${id}`),
      ...(audit_ref === undefined ? {} : { audit_ref }),
    }),
  ];
}

function childRecord(
  { parentId, childId }: Pick<ChildFacts, 'parentId' | 'childId'>,
  event: ChildEvent,
  atMs: number,
  details: JsonObject = {},
): ChildRecord {
  return { kind: 'child', at_ms: atMs, session_id: parentId, child_session_id: childId, event, details };
}

/** The usage has a name of its own, so that adding up a family counts it once. */
function endRecords(
  facts: ChildFacts,
  end: { readonly event: ChildEvent; readonly status: TerminalStatus; readonly usage: Usage; readonly at: number },
): JournalRecord[] {
  const usage = { usage_ref: `usage.${facts.childId}`, ...end.usage };
  return [endResult(facts, end), childRecord(facts, 'usage', end.at, usage), childRecord(facts, end.event, end.at)];
}

function endResult(
  { parentId, childId, built, openedAt }: ChildFacts,
  { status, usage, at }: { readonly status: TerminalStatus; readonly usage: Usage; readonly at: number },
): ResultRecord {
  return {
    kind: 'result',
    call_id: callIdOf(childId),
    session_id: parentId,
    at_ms: at,
    tool: EFFECT_NAME,
    args_hash: manifestHash(built.manifest),
    status,
    start_ts: openedAt,
    end_ts: at,
    duration_ms: at - openedAt,
    bytes: usage.bytes,
    files: [],
    errors: [],
    effect: { effect_id: effectIdOf(childId) },
  };
}

function callIdOf(childId: string): string {
  return `child.${childId}`;
}

function effectIdOf(childId: string): string {
  return `effect.${callIdOf(childId)}`;
}
