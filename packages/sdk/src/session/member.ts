/** One child as its family holds it: how it ends, who keeps it, and what of that goes on record. */
import type { JsonObject, ToolError } from '@tool-runtime/protocol';
import type { SessionParts } from '../call/state/session-parts.ts';
import { contractViolation, failure, policyDenial } from '../contracts/failures.ts';
import { checkId } from '../contracts/identifiers.ts';
import type { JournalRecord } from '../contracts/journal.ts';
import { type ChildEvent, type ChildFacts, childRecord, endRecords } from './child-records.ts';
import type { ChildSession, DetachOptions, Usage } from './child-session.ts';
import type { PreparedChild } from './prepare-child.ts';
import type { CloseOptions, Session } from './session.ts';
import { NO_USAGE } from './session-budget.ts';

/** Whoever a child belongs to: the family it was born into, or who took it over. */
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
