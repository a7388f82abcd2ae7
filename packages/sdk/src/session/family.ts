/**
 * The children of one session: how many there may be, which are open, what they used, and what happens to them when the
 * session ends.
 *
 * A child is an effect of its parent: an intent before it opens, a result when it is over. Every change in between is
 * recorded and announced to the parent.
 */
import { type JsonObject, type ToolError, toToolError } from '@tool-runtime/protocol';
import { policyDenial } from '../contracts/failures.ts';
import type { JournalRecord } from '../contracts/journal.ts';
import type { AnyTool } from '../contracts/tool.ts';
import type { EventBus } from '../events/event-bus.ts';
import { checkChildStart } from '../package/depth-budget.ts';
import { manifestHash } from '../package/package-parts.ts';
import type { ChildOptions, ChildSession, Usage } from './child-session.ts';
import { type ChildFacts, type Keeper, Member, startedRecords, startIntent } from './member.ts';
import { type Parent, type PreparedChild, prepareChild } from './prepare-child.ts';
import type { Session } from './session.ts';
import { addUsage, NO_USAGE } from './session-budget.ts';
import { type WorkElsewhere, worksElsewhere } from './work-elsewhere.ts';

/** What the opening of a session needs to know when it is a child's. */
export interface ChildBinding {
  readonly sessionId: string;
  readonly prepared: PreparedChild;
  readonly options: ChildOptions;
  readonly parent: Parent;
  /** Takes over what the child leaves behind. */
  readonly guardian: Keeper;
  /** Stand with the session's own record of its opening. */
  readonly openingRecords: readonly JournalRecord[];
  closingRecords(reason: 'closed' | 'expired', usage: Usage): readonly JournalRecord[];
  onClosed(usage: Usage): Promise<void>;
  /** Another host has taken it. */
  onTaken(host: string): Promise<void>;
}

export interface FamilySetting extends Parent {
  readonly guardian: Keeper;
  openMember(child: ChildBinding): Promise<Session>;
}

export interface EndChildren {
  readonly cancel: boolean;
  /** Children that may be taken over are, instead of ended. */
  readonly byPolicy: boolean;
}

interface ChildTools {
  readonly tools: readonly AnyTool[];
  readonly withheld: ReadonlyMap<string, ToolError>;
}

export class Family implements Keeper {
  readonly #setting: FamilySetting;
  readonly #members = new Map<string, { readonly member: Member; readonly child: ChildSession; stop(): void }>();
  #started = 0;
  #ended: Usage = NO_USAGE;

  constructor(setting: FamilySetting) {
    this.#setting = setting;
  }

  get size(): number {
    return this.#members.size;
  }

  get successor(): Keeper {
    return this.#setting.guardian;
  }

  async open(options: ChildOptions): Promise<ChildSession> {
    checkChildStart(this.#setting.depth, this.#started);
    // Counted at once, so that of two that open together only one can be the last.
    this.#started += 1;
    let prepared: PreparedChild | undefined;
    try {
      prepared = await prepareChild(options, this.#setting);
      return await this.#start(options, prepared);
    } catch (thrown) {
      this.#started -= 1;
      await prepared?.drop();
      throw thrown;
    }
  }

  list(): readonly ChildSession[] {
    return [...this.#members.values()].map(({ child }) => child);
  }

  /** Of ended children, and of open ones so far. */
  usage(): Usage {
    return this.list().reduce((sum, child) => addUsage(sum, child.usage()), this.#ended);
  }

  requireNone(): void {
    const open = this.list();
    if (open.length > 0) throw childrenOpen(open);
  }

  async end({ cancel, byPolicy }: EndChildren): Promise<void> {
    const members = [...this.#members.values()].map(({ member }) => member);
    await Promise.all(
      members.map((member) => {
        if (byPolicy && member.prepared.lifecycle === 'reclaimable') return member.reclaim();
        return cancel ? member.cancel('parent ended') : member.close({ children: 'end' });
      }),
    );
  }

  adopt(member: Member): void {
    this.#keep(member, member.bind(member.session));
  }

  forget(member: Member, usage: Usage): void {
    const { childId } = member.facts;
    const kept = this.#members.get(childId);
    if (kept === undefined) return;
    kept.stop();
    this.#members.delete(childId);
    this.#ended = addUsage(this.#ended, usage);
  }

  async #start(options: ChildOptions, prepared: PreparedChild): Promise<ChildSession> {
    const { parts, runtime, openMember } = this.#setting;
    const facts: ChildFacts = {
      parentId: parts.sessionId,
      childId: `sess-${runtime.newId()}`,
      agentId: prepared.agentId,
      instance: parts.instanceId,
      built: prepared.built,
      depth: prepared.depth,
      openedAt: parts.clock.now(),
    };
    const member = new Member({ parts, facts, prepared, keeper: this });
    const session = await openMember({
      sessionId: facts.childId,
      prepared,
      options,
      parent: this.#setting,
      guardian: this,
      openingRecords: [startIntent(facts), ...startedRecords(facts, prepared.handoff, askedFor(options))],
      closingRecords: (reason, usage) => member.closingRecords(reason, usage),
      onClosed: (usage) => member.closed(usage),
      onTaken: (host) => member.note('taken', { host }),
    });
    const child = member.bind(session);
    this.#keep(member, child);
    member.announce('started');
    if (child.elsewhere !== undefined) void this.#follow(child.elsewhere, member);
    return child;
  }

  /** What ends over there ends here. */
  async #follow(elsewhere: WorkElsewhere, member: Member): Promise<void> {
    const how = await elsewhere.over;
    try {
      if (how === 'lost') await member.cancel('the host it worked on was lost');
      else if (how === 'completed') await member.close({ children: 'end' });
      else await member.close({ cancel: true, reason: how === 'expired' ? how : 'closed' });
    } catch (thrown) {
      this.#setting.parts.reportUnexpected(toToolError(thrown));
    }
  }

  #keep(member: Member, child: ChildSession): void {
    const { parts, runtime } = this.#setting;
    const stop = forwardEvents(runtime.events, { from: member.facts.childId, to: parts.sessionId });
    this.#members.set(member.facts.childId, { member, child, stop });
  }
}

/** The narrowing as requested; its result is in the manifest and in the child's own records. */
function askedFor({ folder, budget, capabilities, workspace, lifecycle = 'parent_owned' }: ChildOptions): JsonObject {
  return {
    lifecycle,
    ...(workspace === undefined ? {} : { workspace }),
    ...(folder === undefined ? {} : { folder }),
    ...(budget === undefined ? {} : { budget: { ...budget } as JsonObject }),
    ...(capabilities === undefined ? {} : { capabilities: capabilities as unknown as JsonObject }),
  };
}

function childrenOpen(open: readonly ChildSession[]): ToolError {
  return policyDenial(`Session has open children: ${open.map(({ agentId }) => agentId).join(', ')}`, {
    details: {
      gate: 'session',
      reason: 'children_open',
      children: open.map(({ id }) => id),
      next: 'complete, cancel or detach them first, or close with cancel',
    },
  });
}

/** Forwards a child's events to its parent, each in an envelope that names the child. Status changes are left out. */
function forwardEvents(events: EventBus, way: { readonly from: string; readonly to: string }): () => void {
  return events.listen(
    way.from,
    ({ id, message }) => {
      if (!events.hears(way.to, 'progress')) return;
      const data: JsonObject = {
        child_session_id: way.from,
        child_event: message.event,
        child_event_id: id,
        child_request_id: message.request_id,
        ...(message.data === undefined ? {} : { child_data: message.data }),
      };
      // The child's request ids are its own: under them the event would pass for one of the parent's calls.
      const { progress } = message;
      events.emit(way.to, { type: 'EventMessage', event: 'ChildEvent', request_id: way.from, progress, data });
    },
    { events: 'progress' },
  );
}

/** The tools of a child, and for every other tool the reason why it is missing. */
export function childTools({ prepared, parent, options }: ChildBinding, tools: readonly AnyTool[]): ChildTools {
  const { routes, manifest } = prepared.built;
  const { workspace } = options;
  if (workspace !== undefined) {
    return { tools: [], withheld: new Map(tools.map(({ name }) => [name, worksElsewhere(workspace)])) };
  }
  const kept = new Set(routes.map((route) => route.canonical_tool_name));
  const withheld = new Map<string, ToolError>();
  for (const { name } of tools) {
    if (!kept.has(name)) withheld.set(name, parent.parts.hidden.get(name) ?? stripped(name, prepared.agentId));
  }
  return { tools: tools.filter(({ name }) => kept.has(name)), withheld };

  function stripped(name: string, agentId: string): ToolError {
    return policyDenial(`Tool was not handed to this child: ${name}`, {
      details: {
        gate: 'route',
        reason: 'stripped',
        agent_id: agentId,
        tool_policy: manifest.tool_policy.type,
        manifest_hash: manifestHash(manifest),
        next: 'ask the parent to make the call, or to open a child that has the tool',
      },
    });
  }
}
