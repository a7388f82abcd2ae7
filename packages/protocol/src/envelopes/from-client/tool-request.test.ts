import { describe, test } from 'node:test';
import { assertAccepts, assertRefuses, assertStrict, SAMPLES } from '../../../test/sample-messages.ts';
import { toolRequestSchema } from './tool-request.ts';

const sample = SAMPLES.ToolRequest;
const NOT_IDS = ['', 7, null, 'a\u0000b', 'line\nbreak', '\ud800', 'x'.repeat(513), 'ä'.repeat(257)];
const IDS = ['a', 'Ünïcode 🎉', 'x'.repeat(512), 'ä'.repeat(256)];

describe('ToolRequest', () => {
  test('S0-3 has exactly its six required fields', () => assertStrict(toolRequestSchema, sample));

  for (const field of ['tool', 'request_id', 'session_id', 'idempotency_key', 'dedupe_key']) {
    test(`S0-3 refuses a ${field} that is empty, too long or unprintable`, () => {
      assertRefuses(toolRequestSchema, sample, field, NOT_IDS);
      assertAccepts(toolRequestSchema, sample, field, IDS);
    });
  }

  test('S0-3 takes args only as a JSON object', () => {
    assertRefuses(toolRequestSchema, sample, 'args', [[], null, 'text', 3, { when: new Date(0) }, { gone: undefined }]);
    assertAccepts(toolRequestSchema, sample, 'args', [{}, { deep: [{ list: [1, null, 'x', true] }] }]);
  });

  test('S0-3 takes the timestamp in Unix seconds, whole or decimal', () => {
    assertRefuses(toolRequestSchema, sample, 'timestamp', [
      -1,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      '1731662400',
      null,
    ]);
    assertAccepts(toolRequestSchema, sample, 'timestamp', [0, 1_731_662_400, 1_731_662_400.125]);
  });

  test('S0-80 takes a time limit only as a positive whole number of milliseconds', () => {
    assertRefuses(toolRequestSchema, sample, 'timeout_ms', [0, -5, 1.5, '100', null]);
    assertAccepts(toolRequestSchema, sample, 'timeout_ms', [1, 600_000]);
  });
});
