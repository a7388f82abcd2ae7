/** What an executor hands back. It becomes an effect result once the runtime adds which effect it answers. */
import type { TerminalStatus } from '../contracts/classes.ts';
import type { EffectResult } from '../contracts/effects.ts';
import type { EffectId } from '../contracts/identifiers.ts';
import type { ContentRef } from '../contracts/refs.ts';

export interface ToolExecutionOutput {
  readonly terminal_status: TerminalStatus;
  readonly content_refs: readonly ContentRef[];
  readonly redacted_summary: string;
  readonly external_operation_id?: string;
  readonly reconciliation_ref?: string;
  readonly error_ref?: string;
}

export function completedOutput(summary: string): ToolExecutionOutput {
  return { terminal_status: 'completed', content_refs: [], redacted_summary: summary };
}

export function failedOutput(summary: string, errorRef: string): ToolExecutionOutput {
  return { terminal_status: 'failed', content_refs: [], redacted_summary: summary, error_ref: errorRef };
}

export function toEffectResult(output: ToolExecutionOutput, effectId: EffectId): EffectResult {
  const { terminal_status, content_refs, redacted_summary, external_operation_id, reconciliation_ref, error_ref } =
    output;
  return {
    effect_id: effectId,
    terminal_status,
    content_refs,
    redacted_summary,
    ...(external_operation_id === undefined ? {} : { external_operation_id }),
    ...(reconciliation_ref === undefined ? {} : { reconciliation_ref }),
    ...(error_ref === undefined ? {} : { error_ref }),
  };
}
