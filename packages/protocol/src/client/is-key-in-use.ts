/** Whether an answer says that another call with the same idempotency key is at work, or was faster: ask again later. */
import type { BatchResponse } from '../envelopes/from-host/batch-response.ts';
import type { ErrorMessage } from '../envelopes/from-host/error-message.ts';
import type { ToolResponse } from '../envelopes/from-host/tool-response.ts';

export function isKeyInUse(answer: ToolResponse | BatchResponse | ErrorMessage): boolean {
  if (answer.type === 'BatchResponse') return false;
  const details = answer.type === 'ErrorMessage' ? answer.details : answer.errors[0]?.details;
  if (details?.['gate'] !== 'idempotency') return false;
  return details['reason'] === 'outcome_unknown' || details['reason'] === 'key_taken';
}
