import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BatchResponse, ToolResponse } from '@tool-runtime/protocol';
import { withinSize } from './served-calls.ts';

function response(request_id: string, length: number): ToolResponse {
  const base = { type: 'ToolResponse', ok: true, tool: 'file_read', request_id, duration_ms: 1 } as const;
  return { ...base, data: 'x'.repeat(length), errors: [], warnings: [] };
}

test('a batch that fits is left alone; one that does not says which answers are missing', () => {
  const batch: BatchResponse = {
    type: 'BatchResponse',
    request_id: 'b',
    responses: [response('small', 10), response('large', 5000), response('last', 10)],
  };
  assert.equal(withinSize(batch, 10_000), batch);
  const { responses } = withinSize(batch, 1000);
  assert.deepEqual(
    responses.map(({ type, request_id }) => [type, request_id]),
    [
      ['ToolResponse', 'small'],
      ['ErrorMessage', 'large'],
      ['ToolResponse', 'last'],
    ],
  );
  assert.ok(responses[1]?.type === 'ErrorMessage' && responses[1].details?.['reason'] === 'batch_too_large');
});
