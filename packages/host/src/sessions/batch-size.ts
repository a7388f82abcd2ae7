/** Keeps the answer of a batch within what clients read in one message. */
import { type BatchResponse, ToolError } from '@tool-runtime/protocol';
import { errorAnswer } from './refusals.ts';

/** Clients read 64 MiB; a character takes at most three bytes. */
const MAX_CHARACTERS = 20 * 1024 * 1024;

/** Responses that do not fit are replaced by a refusal that says so; their calls have run. */
export function withinSize(batch: BatchResponse, maxCharacters: number = MAX_CHARACTERS): BatchResponse {
  let left = maxCharacters;
  let isChanged = false;
  const responses = batch.responses.map((response) => {
    const { length } = JSON.stringify(response);
    if (length <= left || response.type === 'ErrorMessage') {
      left -= length;
      return response;
    }
    isChanged = true;
    return errorAnswer(tooLarge(response.ok), response.request_id);
  });
  return isChanged ? { ...batch, responses } : batch;
}

function tooLarge(ok: boolean): ToolError {
  return new ToolError('E_INTERNAL', 'Answer does not fit into the answer of its batch', {
    details: {
      reason: 'batch_too_large',
      ok,
      next: 'the call has run; repeat it alone if it only reads, or with its idempotency key, and send smaller batches',
    },
  });
}
