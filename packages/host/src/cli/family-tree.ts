/** Families of sessions as people read them: an indented list, one line each, everything that was narrowed on it. */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { FamilyMember } from '../records/families.ts';
import { paint, plainText } from '../terminal/terminal.ts';

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
