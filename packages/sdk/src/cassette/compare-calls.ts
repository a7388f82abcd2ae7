/** Whether a call is the recorded one, what the first difference is, and which recorded call is the nearest. */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { REDACTED } from '../redaction/find-values.ts';

export interface ComparedCall {
  readonly tool: string;
  readonly args: JsonValue;
}

export interface Difference {
  /** Such as `args.path`, or `tool`. */
  readonly where: string;
  readonly recorded: string;
  readonly now: string;
}

const SHOWN = 160;
const SAME_TOOL = 1000;

/** A secret was masked when it was recorded, so the mask stands for any text. */
export function firstDifference(recorded: ComparedCall, now: ComparedCall): Difference | undefined {
  if (recorded.tool !== now.tool) return { where: 'tool', recorded: shown(recorded.tool), now: shown(now.tool) };
  return differenceOf(recorded.args, now.args, 'args');
}

/** The first of those that have most in common with the call. */
export function nearestCall<Recorded extends ComparedCall>(
  calls: readonly Recorded[],
  now: ComparedCall,
): Recorded | undefined {
  let best: Recorded | undefined;
  let most = 0;
  for (const call of calls) {
    const score = (call.tool === now.tool ? SAME_TOOL : 0) + inCommon(call.args, now.args);
    if (score > most) [best, most] = [call, score];
  }
  return best;
}

function differenceOf(recorded: JsonValue, now: JsonValue | undefined, where: string): Difference | undefined {
  if (recorded === REDACTED && now !== undefined) return undefined;
  if (typeof recorded === 'string' && typeof now === 'string' && isMasked(recorded, now)) return undefined;
  const [one, other] = [membersOf(recorded), membersOf(now)];
  if (one === undefined || other === undefined || Array.isArray(recorded) !== Array.isArray(now)) {
    return Object.is(recorded, now) ? undefined : { where, recorded: shown(recorded), now: shown(now) };
  }
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const place = Array.isArray(recorded) ? `${where}[${name}]` : `${where}.${name}`;
    const found = Object.hasOwn(one, name)
      ? differenceOf(one[name] ?? null, Object.hasOwn(other, name) ? other[name] : undefined, place)
      : { where: place, recorded: 'nothing', now: shown(other[name]) };
    if (found !== undefined) return found;
  }
  return undefined;
}

function membersOf(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null ? (value as unknown as JsonObject) : undefined;
}

/** Whether the texts between the masks are there, in order. */
function isMasked(recorded: string, now: string): boolean {
  const pieces = recorded.split(REDACTED);
  if (pieces.length === 1) return recorded === now;
  const [first = '', last = ''] = [pieces[0], pieces.at(-1)];
  if (!now.startsWith(first) || !now.endsWith(last) || now.length < first.length + last.length) return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = now.indexOf(piece, at);
    if (found < 0 || found + piece.length > now.length - last.length) return false;
    at = found + piece.length;
  }
  return true;
}

function inCommon(one: JsonValue, other: JsonValue | undefined): number {
  const [left, right] = [membersOf(one), membersOf(other)];
  if (left === undefined || right === undefined) return differenceOf(one, other, '') === undefined ? 1 : 0;
  return Object.keys(left).reduce(
    (sum, name) => sum + (Object.hasOwn(right, name) ? 0.5 + inCommon(left[name] ?? null, right[name]) : 0),
    0,
  );
}

function shown(value: JsonValue | undefined): string {
  return value === undefined ? 'nothing' : safeText(JSON.stringify(value), SHOWN);
}
