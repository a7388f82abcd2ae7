/**
 * Works out what a call with a key is about to change and what it would answer, for whoever has to find out after a crash.
 *
 * Under the locks and before the intent, which carries it. A call that cannot be rehearsed is made all the same; if it is
 * lost, its outcome stays unknown. Calls without a key pay nothing.
 */
import type { ErrorEntry, JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { KeyClaim } from '../contracts/journal.ts';
import type { Rehearsal } from '../contracts/rehearsal.ts';
import type { JudgedCall } from './state/call-types.ts';
import type { SessionParts } from './state/session-parts.ts';
import { settle } from './state/settle.ts';
import { shownData } from './state/shown-data.ts';
import { rootOf } from './tool-context/read-subject.ts';
import { RehearsedCall } from './tool-context/rehearsal-context.ts';

/** The claim, with the rehearsal where there is one. Ends with the call's time, like every stage. */
export async function rehearseCall(call: JudgedCall, claim: KeyClaim, parts: SessionParts): Promise<KeyClaim> {
  const { rehearse = 'none' } = call.compiled.tool;
  if (rehearse === 'none' || call.view.mutationClass === 'read_only') return claim;
  const rehearsed = await settle(() => rehearsalOf(call, parts));
  return rehearsed.ok && rehearsed.value !== undefined ? { ...claim, rehearsal: rehearsed.value } : claim;
}

async function rehearsalOf(call: JudgedCall, parts: SessionParts): Promise<Rehearsal | undefined> {
  const { tool } = call.compiled;
  const context = new RehearsedCall(call, parts);
  const data: unknown = await (typeof tool.rehearse === 'function'
    ? tool.rehearse(call.args, context)
    : tool.run(call.args, context));
  if (context.changes.length === 0) return undefined;
  const told = data === undefined ? null : (tool.data.parse(data) as JsonValue);
  const answer = answerOf(shownData(call, told, parts), parts);
  return { root: await rootOf(parts.workspace), changes: context.changes, answer };
}

/** Rules of the after phase come after the effect: in an answer that is given by proof they may not have run. */
function answerOf(data: JsonValue, parts: SessionParts): JsonObject {
  const warnings = parts.rules.has('after') ? [{ ...NOT_JUDGED }] : [];
  return { status: 'completed', data, errors: [], warnings };
}

const NOT_JUDGED: ErrorEntry = {
  code: 'E_VALIDATION_FAIL',
  message: 'The process died after this change was made; the rules of the after phase may not have judged it',
  details: { gate: 'rule', reason: 'rules_not_run', next: 'run validate on what it changed' },
};
