/** The spine of every effect: an intent before, a result after, joined by one effect id. */
import type { TerminalStatus } from './classes.ts';
import type { EffectId } from './identifiers.ts';
import type { ContentRef, DestinationRef, EntityRef, PolicyRef, SourceRef } from './refs.ts';

export const EFFECT_KINDS = [
  'tool_execution',
  'approval_dispatch',
  'output_delivery',
  'file_write',
  'process_start',
  'process_signal',
  'isolated_process_start',
  'child_agent_start',
  'child_artifact_shutdown',
  'detach_transfer',
  'hook_mutation',
] as const;
export type EffectKind = (typeof EFFECT_KINDS)[number];

export interface EffectIntent {
  readonly effect_id: EffectId;
  readonly kind: EffectKind;
  readonly subject_ref: EntityRef;
  readonly source: SourceRef;
  readonly destination?: DestinationRef;
  readonly policy_refs: readonly PolicyRef[];
  readonly idempotency_key?: string;
  readonly dedupe_key?: string;
  readonly content_refs: readonly ContentRef[];
  readonly redacted_summary: string;
}

export interface EffectResult {
  readonly effect_id: EffectId;
  readonly terminal_status: TerminalStatus;
  readonly external_operation_id?: string;
  readonly reconciliation_ref?: string;
  readonly error_ref?: string;
  readonly content_refs: readonly ContentRef[];
  readonly redacted_summary: string;
}

/**
 * An effect as records name it. Source, destination and policies of a call follow from its session's package and its
 * route, which are on record once; repeating them in every record would double the journal.
 */
export type RecordedIntent = Pick<EffectIntent, 'effect_id' | 'kind' | 'idempotency_key' | 'dedupe_key'>;
export type RecordedResult = Pick<
  EffectResult,
  'effect_id' | 'external_operation_id' | 'reconciliation_ref' | 'error_ref'
>;
