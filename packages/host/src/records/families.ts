/**
 * Sessions and their children as the journal tells of them, oldest first.
 *
 * A session without an end is open as long as its process lives, and lost with it. Children run in the process of their
 * parent, so what is known of one is known of the other.
 */
import type { JsonObject } from '@tool-runtime/protocol';
import type { Runtime, StoredRecord } from '@tool-runtime/sdk';

export interface FamilyMember {
  readonly session_id: string;
  readonly parent_session_id?: string;
  actor: string;
  client: string;
  state: string;
  started_at: number | undefined;
  ended_at: number | undefined;
  calls: number;
  refusals: number;
  /** Everything on record about a child: its start with the manifest, its handoff, its end. */
  readonly events: { readonly event: string; readonly at_ms: number; readonly details: JsonObject }[];
  readonly children: FamilyMember[];
}

interface Draft extends FamilyMember {
  parent_session_id?: string;
  /** Process it ran in, when a call of it or the start of a child says so. */
  instance: string | undefined;
  readonly refused: Set<string>;
}

export interface FamilyBook {
  note(record: StoredRecord): void;
  /** Every session without a parent, with those below it. `living`: processes that have the journal open. */
  families(living: readonly string[]): readonly FamilyMember[];
}

/** Follows a journal record by record. */
export function createFamilyBook(): FamilyBook {
  const drafts = new Map<string, Draft>();
  return {
    note: (record) => noteRecord(record, drafts),
    families(living) {
      for (const draft of drafts.values()) draft.children.length = 0;
      for (const draft of drafts.values()) {
        const parent = draft.parent_session_id === undefined ? undefined : drafts.get(draft.parent_session_id);
        parent?.children.push(draft);
        draft.refusals = draft.refused.size;
      }
      const eldest = [...drafts.values()].filter(({ parent_session_id: id }) => id === undefined || !drafts.has(id));
      for (const draft of eldest) settle(draft, undefined, new Set(living));
      return eldest.map(publish);
    },
  };
}

export function readFamilies(
  runtime: Pick<Runtime, 'records' | 'instances'>,
  options: { readonly archived: boolean },
): readonly FamilyMember[] {
  const book = createFamilyBook();
  for (const record of runtime.records(options)) book.note(record);
  return book.families(runtime.instances());
}

/** The one of this id, or the only one whose id begins so. */
export function findMembers(families: readonly FamilyMember[], id: string): readonly FamilyMember[] {
  const all = families.flatMap(withDescendants);
  const exact = all.filter(({ session_id }) => session_id === id);
  return exact.length > 0 ? exact : all.filter(({ session_id }) => session_id.startsWith(id));
}

export function withDescendants(member: FamilyMember): readonly FamilyMember[] {
  return [member, ...member.children.flatMap(withDescendants)];
}

function noteRecord(record: StoredRecord, drafts: Map<string, Draft>): void {
  switch (record.kind) {
    case 'session':
      noteSession(record, draftOf(record.session_id, drafts));
      break;
    case 'child':
      noteChild(record, draftOf(record.child_session_id, drafts));
      break;
    case 'requested':
      draftOf(record.session_id, drafts).calls += 1;
      break;
    case 'decision':
      if (record.outcome === 'deny') draftOf(record.session_id, drafts).refused.add(record.call_id);
      break;
    case 'intent':
      draftOf(record.session_id, drafts).instance = record.instance;
      break;
    default:
  }
}

function noteSession(record: StoredRecord & { readonly kind: 'session' }, draft: Draft): void {
  draft.actor = record.actor;
  draft.client = record.client;
  if (record.parent_session_id !== undefined) draft.parent_session_id = record.parent_session_id;
  if (record.event === 'opened') draft.started_at = record.at_ms;
  else end(draft, record.event, record.at_ms);
}

/** How a child ended, in the words of its parent. */
const ENDS: ReadonlySet<string> = new Set(['completed', 'cancelled', 'expired']);

function noteChild(
  { session_id, event, at_ms, details }: StoredRecord & { readonly kind: 'child' },
  draft: Draft,
): void {
  draft.parent_session_id = session_id;
  draft.events.push({ event, at_ms, details });
  if (ENDS.has(event)) end(draft, event, at_ms);
}

/** The first word counts: that a cancelled child's session is closed too says nothing new. */
function end(draft: Draft, state: string, atMs: number): void {
  if (draft.ended_at !== undefined) return;
  draft.state = state;
  draft.ended_at = atMs;
}

function settle(draft: Draft, parentInstance: string | undefined, living: ReadonlySet<string>): void {
  const instance = draft.instance ?? parentInstance;
  // The record does not say where it ran: with no other process there, it has ended.
  const isLost = instance === undefined ? living.size <= 1 : !living.has(instance);
  if (draft.ended_at === undefined) draft.state = isLost ? 'lost' : 'open';
  for (const child of draft.children as Draft[]) settle(child, instance, living);
}

function publish({ instance: _, refused: __, children, ...member }: Draft): FamilyMember {
  return { ...member, children: (children as Draft[]).map(publish) };
}

function draftOf(sessionId: string, drafts: Map<string, Draft>): Draft {
  const known = drafts.get(sessionId);
  if (known !== undefined) return known;
  const draft: Draft = {
    session_id: sessionId,
    actor: 'unknown',
    client: 'unknown',
    state: 'open',
    started_at: undefined,
    ended_at: undefined,
    calls: 0,
    refusals: 0,
    events: [],
    children: [],
    instance: undefined,
    refused: new Set(),
  };
  drafts.set(sessionId, draft);
  return draft;
}
