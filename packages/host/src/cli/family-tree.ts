/**
 * Sessions and their children as the journal tells of them, oldest first.
 *
 * A session without an end is open as long as its process lives, and lost with it. Children run in the process of their
 * parent, so what is known of one is known of the other.
 */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { Runtime, StoredRecord } from '@tool-runtime/sdk';
import { paint, plainText } from '../terminal/terminal.ts';

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

/** Every session without a parent, with those below it. */
export function readFamilies(
  runtime: Pick<Runtime, 'records' | 'instances'>,
  options: { readonly archived: boolean },
): readonly FamilyMember[] {
  const drafts = new Map<string, Draft>();
  for (const record of runtime.records(options)) noteRecord(record, drafts);
  const living = new Set(runtime.instances());
  for (const draft of drafts.values()) {
    const parent = draft.parent_session_id === undefined ? undefined : drafts.get(draft.parent_session_id);
    parent?.children.push(draft);
    draft.refusals = draft.refused.size;
  }
  const eldest = [...drafts.values()].filter(({ parent_session_id: id }) => id === undefined || !drafts.has(id));
  for (const draft of eldest) settle(draft, undefined, living);
  return eldest.map(publish);
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

/** A family of sessions as an indented list: one line each, everything that was narrowed on it. */
export function familyLines(member: FamilyMember, indent = ''): readonly string[] {
  return [indent + describeMember(member), ...member.children.flatMap((child) => familyLines(child, `${indent}  `))];
}

function describeMember(member: FamilyMember): string {
  const started = detailsOf(member, 'started');
  const name = started === undefined ? member.actor : (textOf(started['agent_id']) ?? 'unknown');
  const parts = [
    `${paint('bold', plainText(name))} ${paint('dim', shortId(member.session_id))}`,
    lifeOf(member),
    ...(started === undefined ? [] : narrowingOf(started)),
    ...handoffOf(member),
    `${counted(member.calls, 'call')}, ${member.refusals} refused`,
  ];
  return parts.join('  ');
}

/** Enough to find it again; `audit tree` takes it as it is. */
function shortId(sessionId: string): string {
  return plainText(sessionId.slice(0, 'sess-'.length + 8));
}

function lifeOf({ state, started_at, ended_at, events }: FamilyMember): string {
  const began = started_at === undefined ? 'started before the journal' : `started ${timeOf(started_at)}`;
  const moved = events.filter(({ event }) => event === 'detached' || event === 'reclaimed').map(({ event }) => event);
  const finished = ended_at === undefined ? stateWord(state) : `${stateWord(state)} ${timeOf(ended_at)}`;
  return [began, ...moved, finished].join(', ');
}

const COLORS: Readonly<Record<string, Parameters<typeof paint>[0]>> = {
  lost: 'red',
  expired: 'yellow',
  cancelled: 'yellow',
  open: 'cyan',
};

function stateWord(state: string): string {
  const color = COLORS[state];
  const word = state === 'lost' ? 'lost with its process' : plainText(state);
  return color === undefined ? word : paint(color, word);
}

function narrowingOf(started: JsonObject): readonly string[] {
  const manifest = objectOf(started['manifest']);
  const { current_depth, max_depth } = objectOf(started['depth']);
  const policy = textOf(objectOf(manifest['tool_policy'])['type']) ?? 'unknown';
  const kept = countOf(manifest['retained_capability_ids']);
  const stripped = countOf(manifest['stripped_capability_ids']);
  const folder = textOf(started['folder']);
  const budget = Object.entries(objectOf(started['budget'])).map(([limit, amount]) => `${limit} ${String(amount)}`);
  return [
    plainText(`${policy} (${kept} kept, ${stripped} stripped)`),
    ...(folder === undefined ? [] : [plainText(`folder ${folder}`)]),
    `depth ${String(current_depth)} of ${String(max_depth)}`,
    ...(budget.length === 0 ? [] : [plainText(`budget ${budget.join(', ')}`)]),
  ];
}

function handoffOf(member: FamilyMember): readonly string[] {
  const handoff = detailsOf(member, 'handoff');
  return handoff === undefined ? [] : [plainText(`handoff ${textOf(handoff['variant']) ?? 'unknown'}`)];
}

function detailsOf({ events }: FamilyMember, event: string): JsonObject | undefined {
  return events.find((one) => one.event === event)?.details;
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function countOf(value: JsonValue | undefined): number {
  return Array.isArray(value) ? value.length : 0;
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19).replace('T', ' ');
}
