/** What a client knows about the effect of a call after what it heard, or did not hear. */
import type { ToolResponse } from '@tool-runtime/protocol';
import type { Terminal } from '../../../packages/host/test/load/call-book.ts';

/** `unknown`: it may have happened, or may happen yet. */
export type Knowledge = 'done' | 'not done' | 'unknown';

/** Codes of refusals that come before the tool runs. */
const REFUSED: ReadonlySet<string> = new Set(['E_POLICY', 'E_VALIDATION_FAIL']);

/** Where calls are refused because of the journal itself. */
const JOURNAL_GATES: ReadonlySet<unknown> = new Set(['journal', 'recovery']);

export function knowledgeOf(answer: Terminal | undefined): Knowledge {
  if (answer === undefined) return 'unknown';
  if (answer.type === 'ErrorMessage') return 'not done';
  if (answer.ok) return 'done';
  const isRefused = REFUSED.has(answer.errors[0]?.code ?? '') && reasonOf(answer) !== 'outcome_unknown';
  return isRefused || hasWaitedForLock(answer) ? 'not done' : 'unknown';
}

export function reasonOf({ errors }: ToolResponse): unknown {
  return errors[0]?.details?.['reason'];
}

/** It says that the journal could not be written, so there is no record to compare with. */
export function isJournalDown({ errors }: ToolResponse): boolean {
  return errors.some(({ details }) => JOURNAL_GATES.has(details?.['gate']) || details?.['kind'] === 'journal_failure');
}

/** Another call worked on the same thing for longer than this one was willing to wait. */
export function hasWaitedForLock({ errors }: ToolResponse): boolean {
  return errors[0]?.code === 'E_TIMEOUT' && errors[0].details?.['gate'] === 'locks';
}
