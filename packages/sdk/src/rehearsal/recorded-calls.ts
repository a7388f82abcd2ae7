/** Calls of the journal together with their sealed arguments: what was asked, what the gates answered, what can be judged again. */
import type { JsonObject } from '@tool-runtime/protocol';
import type { DecisionRecord, StoredRecord } from '../contracts/journal.ts';
import type { SealedCall } from '../contracts/sealed-args.ts';
import type { RuntimeParts } from '../session/compile-session.ts';
import type { Decision } from './rehearsed-call.ts';

export interface RecordedCall {
  readonly callId: string;
  readonly atMs: number;
  readonly tool: string;
  /** Redacted. */
  readonly summary: string;
  /** Digests of arguments that the journal vouches for. */
  readonly hashes: readonly string[];
  /** What the gates said, or why that cannot be told. */
  readonly before: Decision | { readonly unjudged: string };
  /** It was approved or needed no approval, so it ran. */
  readonly isAllowed: boolean;
}

export interface KeptArgs {
  readonly args: JsonObject;
}

/** Of gates that refuse by the registry, the arguments and the tools of the session. */
const JUDGING: ReadonlySet<string> = new Set([
  'route',
  'schema',
  'ceiling',
  'arguments',
  'rule',
  'egress',
  'network',
  'http',
  'commands',
  'workspace',
]);

/** Of stages behind the gates, which had let the call pass. */
const BEHIND: ReadonlySet<string> = new Set(['budget', 'recovery', 'idempotency', 'locks', 'journal', 'grant']);

interface OpenEntry {
  requested?: Extract<StoredRecord, { kind: 'requested' }>;
  intentHash?: string;
  readonly decisions: DecisionRecord[];
}

/** In the order they were made. */
export function recordedCalls({ journal }: Pick<RuntimeParts, 'journal'>, sinceMs = 0): readonly RecordedCall[] {
  const open = new Map<string, OpenEntry>();
  const entryOf = (callId: string): OpenEntry => {
    const entry = open.get(callId) ?? { decisions: [] };
    open.set(callId, entry);
    return entry;
  };
  for (const record of journal.read({ archived: true })) {
    if (record.at_ms < sinceMs) continue;
    if (record.kind === 'requested') entryOf(record.call_id).requested = record;
    else if (record.kind === 'decision') entryOf(record.call_id).decisions.push(record);
    else if (record.kind === 'intent') entryOf(record.call_id).intentHash = record.args_hash;
  }
  return [...open.values()].flatMap(({ requested, intentHash, decisions }) => {
    if (requested === undefined) return [];
    return [
      {
        callId: requested.call_id,
        atMs: requested.at_ms,
        tool: requested.tool,
        summary: requested.args_summary,
        hashes: [requested.args_hash, ...(intentHash === undefined ? [] : [intentHash])],
        before: decidedBefore(decisions),
        isAllowed: decisions.at(-1)?.outcome === 'allow',
      },
    ];
  });
}

/** What the gates said last: an approver may have edited the arguments, which are judged again. */
export function decidedBefore(decisions: readonly DecisionRecord[]): RecordedCall['before'] {
  let before: Decision | undefined;
  for (const { outcome, gate, code } of decisions) {
    if (outcome === 'ask') before = 'ask';
    else if (outcome === 'allow') before = PASSED.has(gate) ? (before ?? 'allow') : 'allow';
    else if (isJudgement(gate, code)) before = 'deny';
    // The gates had let it pass, or had asked: what came then is not theirs.
    else if (before === undefined && BEHIND.has(gate)) before = 'allow';
    else if (before === undefined) return { unjudged: `refused by ${gate}` };
  }
  return before ?? { unjudged: 'no decision on record' };
}

/** Approvals and records of earlier calls say yes for themselves, not for the gates. */
const PASSED: ReadonlySet<string> = new Set(['approval', 'idempotency']);

/** The section `approvals` refuses under these codes; all others of its gate are answers of people, or missing ones. */
const BY_APPROVALS: ReadonlySet<string> = new Set(['E_POLICY', 'write_path']);

function isJudgement(gate: string, code: string): boolean {
  if (code === 'unknown_tool') return true;
  return gate === 'approval' ? BY_APPROVALS.has(code) : JUDGING.has(gate);
}

/** The latest arguments of every call. */
export function sealedCalls(
  { sealedArgs }: Pick<RuntimeParts, 'sealedArgs'>,
  sinceMs = 0,
): ReadonlyMap<string, SealedCall> {
  const calls = new Map<string, SealedCall>();
  for (const call of sealedArgs.read(sinceMs)) calls.set(call.callId, call);
  return calls;
}

const REASONS = {
  secret: 'the arguments held a secret and were not kept',
  too_large: 'the arguments were too large to keep',
} as const;

/** The arguments, or why there are none to judge by. */
export function keptArgs({ callId }: RecordedCall, sealed: ReadonlyMap<string, SealedCall>): KeptArgs | string {
  const call = sealed.get(callId);
  if (call === undefined) return 'the arguments were not kept';
  if (call.isNarrowed) return 'the session could do less than its registry says';
  if (call.args === undefined) return REASONS[call.notKept ?? 'secret'];
  return { args: call.args };
}

/** Calls that cannot be judged, counted by reason. */
export class Unjudged {
  readonly #byReason = new Map<string, string[]>();

  add(reason: string, callId: string): void {
    const ids = this.#byReason.get(reason) ?? [];
    ids.push(callId);
    this.#byReason.set(reason, ids);
  }

  list(): readonly { readonly reason: string; readonly count: number; readonly call_ids: readonly string[] }[] {
    return [...this.#byReason].map(([reason, ids]) => ({ reason, count: ids.length, call_ids: ids.slice(0, NAMED) }));
  }
}

const NAMED = 20;
