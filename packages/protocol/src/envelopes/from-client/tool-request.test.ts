import { describe, test } from 'node:test';
import { assertAccepts, assertRefuses, assertStrict, SAMPLES } from '../../../test/sample-messages.ts';
import { toolRequestSchema } from './tool-request.ts';

const sample = SAMPLES.ToolRequest;
const NOT_IDS = ['', 7, null, 'a\u0000b', 'line\nbreak', '\ud800', 'x'.repeat(513), 'ä'.repeat(257)];
const IDS = ['a', 'Ünïcode 🎉', 'x'.repeat(512), 'ä'.repeat(256)];

describe('ToolRequest', () => {
  test('has exactly its six required fields [S0-3]', () => assertStrict(toolRequestSchema, sample));

  for (const field of ['tool', 'request_id', 'session_id', 'idempotency_key', 'dedupe_key']) {
    test(`refuses a ${field} that is empty, too long or unprintable [S0-3]`, () => {
      assertRefuses(toolRequestSchema, sample, field, NOT_IDS);
      assertAccepts(toolRequestSchema, sample, field, IDS);
    });
  }

  test('takes args only as a JSON object [S0-3]', () => {
    assertRefuses(toolRequestSchema, sample, 'args', [[], null, 'text', 3, { when: new Date(0) }, { gone: undefined }]);
    assertAccepts(toolRequestSchema, sample, 'args', [{}, { deep: [{ list: [1, null, 'x', true] }] }]);
  });

  test('takes the timestamp in whole Unix seconds [S0-3]', () => {
    assertRefuses(toolRequestSchema, sample, 'timestamp', [
      -1,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      '1731662400',
      1_731_662_400.125,
      null,
    ]);
    assertAccepts(toolRequestSchema, sample, 'timestamp', [0, 1_731_662_400]);
  });

  test('takes a time limit only as a positive whole number of milliseconds [S0-80]', () => {
    assertRefuses(toolRequestSchema, sample, 'timeout_ms', [0, -5, 1.5, '100', null]);
    assertAccepts(toolRequestSchema, sample, 'timeout_ms', [1, 600_000]);
  });
});
