/** Approvers and gates that never agree must not go round for ever. */
import { policyDenial } from '../contracts/failures.ts';

export function tooManyEdits(tool: string) {
  return policyDenial(`Arguments were edited too often without an approval: ${tool}`, {
    details: { gate: 'approval', reason: 'approval.too_many_edits', next: 'send the call again as it should run' },
  });
}
