/** What the journal holds of a child: an intent and a result like any effect, and between them what happened to it. */
import type { JsonObject } from '@tool-runtime/protocol';
import type { TerminalStatus } from '../contracts/classes.ts';
import type { ChildRecord, IntentRecord, JournalRecord, ResultRecord } from '../contracts/journal.ts';
import type { ChildPackage } from '../package/build-child-package.ts';
import type { DepthBudget } from '../package/depth-budget.ts';
import { manifestHash } from '../package/strip-manifest.ts';
import type { Handoff, Usage } from './child-session.ts';

/** Stands where a call's tool would. Not a tool's name: those have no colon. */
const EFFECT_NAME = 'session:child';

export const CHILD_EVENTS = [
  'started',
  'handoff',
  'usage',
  'completed',
  'cancelling',
  'cancelled',
  'expired',
  'detached',
  'reclaimed',
] as const;
export type ChildEvent = (typeof CHILD_EVENTS)[number];

export interface ChildFacts {
  readonly parentId: string;
  readonly childId: string;
  readonly agentId: string;
  readonly instance: string;
  readonly built: ChildPackage;
  readonly depth: DepthBudget;
  readonly openedAt: number;
}

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

export function childRecord(
  { parentId, childId }: Pick<ChildFacts, 'parentId' | 'childId'>,
  event: ChildEvent,
  atMs: number,
  details: JsonObject = {},
): ChildRecord {
  return { kind: 'child', at_ms: atMs, session_id: parentId, child_session_id: childId, event, details };
}

/** The usage has a name of its own, so that adding up a family counts it once. */
export function endRecords(
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
