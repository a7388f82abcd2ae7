import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertAccepts, assertRefuses, assertStrict, SAMPLES } from '../../../test/sample-messages.ts';
import type { ErrorEntry } from '../../primitives/errors.ts';
import { type ToolResponse, toolResponseSchema } from './tool-response.ts';

const sample = SAMPLES.ToolResponse;
const entry = { code: 'E_FILE_IO', message: 'File not found: a.ts', path: 'a.ts', details: { reason: 'missing' } };

describe('ToolResponse', () => {
  test('S0-4 has exactly its fields, none optional', () => assertStrict(toolResponseSchema, sample));

  for (const field of ['errors', 'warnings']) {
    test(`S0-4 takes ${field} only as an array of coded entries`, () => {
      const bare = { code: 'E_GIT', message: 'm' };
      assertRefuses(toolResponseSchema, sample, field, [null, entry, ['text'], [{ ...bare, code: 'E_OTHER' }]]);
      assertRefuses(toolResponseSchema, sample, field, [[{ ...bare, extra: 1 }], [{ code: 'E_GIT' }]]);
      assertAccepts(toolResponseSchema, sample, field, [[], [bare], [entry, bare]]);
    });
  }

  test('S0-4 carries any JSON as data, and null when there is none', () => {
    assertRefuses(toolResponseSchema, sample, 'data', [undefined, Number.NaN, () => 1, new Map()]);
    assertAccepts(toolResponseSchema, sample, 'data', [null, 0, '', [], {}, { a: [1] }]);
  });

  test('S0-4 takes no negative duration', () => {
    assertRefuses(toolResponseSchema, sample, 'duration_ms', [-1, '3', null]);
    assertAccepts(toolResponseSchema, sample, 'duration_ms', [0, 0.25, 4000]);
  });

  test('S0-4 the entries of the type are the ErrorEntry that tools produce', () => {
    const entries: readonly ErrorEntry[] = [{ code: 'E_GIT', message: 'm' }];
    const response: ToolResponse = { ...sample, errors: entries };
    const back: readonly ErrorEntry[] = toolResponseSchema.parse(response).errors;
    assert.deepEqual(back, entries);
  });
});
