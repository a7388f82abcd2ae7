/** Effects that must not happen twice, with and without a key; and the keyed ones again, after whatever happened. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, ToolResponse } from '@tool-runtime/protocol';
import { type Knowledge, reasonOf } from '../oracle/call-outcome.ts';
import type { TokenPlace } from '../oracle/token-ledger.ts';
import { COUNTER } from '../stage/site.ts';
import { actorOf, type Caller, type CallKind, type KeyedCall, type Lane, newToken, planCall } from './call-maker.ts';

export const tokenCalls: readonly CallKind[] = [
  { name: 'append', weight: 60, make: append },
  { name: 'command', weight: 25, make: command },
  { name: 'external tool', weight: 10, make: mark },
  { name: 'request', weight: 25, make: request },
  { name: 'repeat a key', weight: 50, make: repeat },
  { name: 'raise the counter', weight: 30, make: raise },
];

/** What a lane remembers of keyed calls. */
const MAX_KEYED = 60;

interface Effect {
  readonly tool: string;
  readonly args: JsonObject;
  readonly place: TokenPlace;
  readonly token: string;
  readonly mayFail?: readonly string[];
  readonly isRight?: (data: JsonObject) => boolean;
}

function plan(lane: Lane, caller: Caller, { place, token, ...call }: Effect) {
  const settle = lane.site.tokens.begin(place, token);
  const canHaveKey = caller.transport !== 'mcp' && !caller.isChild;
  if (!canHaveKey || lane.random.below(2) === 0) {
    return planCall(lane, { ...call, settle: (knowledge, answer) => settle(learned(knowledge, answer)) });
  }
  const key = `key-${token}`;
  const keyed: KeyedCall = { actor: actorOf(caller), tool: call.tool, args: call.args, key, settle };
  lane.keyed.push(keyed);
  if (lane.keyed.length > MAX_KEYED) lane.keyed.shift();
  return planCall(lane, {
    ...call,
    key,
    settle: (knowledge, answer) => {
      settle(learned(knowledge, answer));
      if (knowledge === 'done' && answer !== undefined) keyed.answer = answer;
    },
  });
}

function append(lane: Lane, caller: Caller) {
  const token = newToken(lane);
  const { path, place } = lane.random.pick(lane.site.places.logs);
  // Others hold the file's lock, for as long as they like.
  const call = { tool: 'file_write', args: { path, content: `${token}\n`, append: true }, mayFail: ['E_TIMEOUT'] };
  return plan(lane, caller, { ...call, place, token });
}

function command(lane: Lane, caller: Caller) {
  const token = newToken(lane);
  const args = { argv: ['mktemp', '-p', 'tokens', `${token}.XXXXXX`] };
  return plan(lane, caller, { tool: 'shell_exec', args, place: lane.site.places.commands, token });
}

function mark(lane: Lane, caller: Caller) {
  const token = newToken(lane);
  const args = { args: [token, String(lane.random.below(3) / 10)] };
  return plan(lane, caller, { tool: 'mark', args, place: lane.site.places.marks, token });
}

/** A program that failed is an answer, and says nothing about the token. */
function learned(knowledge: Knowledge, answer: ToolResponse | undefined): Knowledge {
  const { code = 0, status } = (answer?.data ?? {}) as JsonObject;
  return knowledge === 'done' && (code !== 0 || status === 'failure') ? 'unknown' : knowledge;
}

function request(lane: Lane, caller: Caller) {
  const token = newToken(lane);
  const url = `http://127.0.0.1:${lane.ports.allowed}/effect/${token}`;
  // A GET may be sent again after a crash: by its own rules it has no effect.
  const args = { url, method: 'POST' };
  const isRight = ({ status }: JsonObject) => status === 200;
  return plan(lane, caller, { tool: 'curl', args, place: lane.site.places.requests, token, isRight });
}

/** Answered from the record, or done now, or refused because the outcome is unknown; never done twice. */
function repeat(lane: Lane, caller: Caller) {
  const own = lane.keyed.filter(({ actor }) => actor === actorOf(caller));
  if (own.length === 0 || caller.isChild || caller.transport === 'mcp') return undefined;
  const { tool, args, key, settle, answer: first } = lane.random.pick(own);
  const call = planCall(lane, {
    tool,
    args,
    key,
    mayFail: ['E_TIMEOUT'],
    settle: (knowledge, answer) => {
      if (learned(knowledge, answer) === 'done') settle('done');
    },
  });
  return {
    ...call,
    kind: `${tool} again`,
    judge: (answer: ToolResponse) => {
      if (first === undefined) return undefined;
      if (!answer.ok) return call.judge(answer);
      if (isDeepStrictEqual(answer.data, first.data)) return undefined;
      return `has another answer than the first (${JSON.stringify(first.data).slice(0, 200)})`;
    },
  };
}

/** Compare and swap: of all that start from one value only one may succeed. */
function raise(lane: Lane) {
  const { counter, folder } = lane.site;
  const file = join(folder, COUNTER);
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  const expected_sha256 = createHash('sha256').update(text).digest('hex');
  const content = `${Number(text) + 1}\n`;
  counter.unknown += 1;
  return planCall(lane, {
    tool: 'file_write',
    args: { path: COUNTER, content, expected_sha256 },
    mayFail: ['E_FILE_IO', 'E_VALIDATION_FAIL', 'E_TIMEOUT'],
    settle: (knowledge, answer) => {
      // A conflict is a clear no.
      if (knowledge !== 'unknown' || isConflict(answer)) counter.unknown -= 1;
      if (knowledge === 'done') counter.acknowledged += 1;
    },
  });
}

function isConflict(answer: ToolResponse | undefined): boolean {
  return answer !== undefined && reasonOf(answer) === 'precondition_failed';
}
