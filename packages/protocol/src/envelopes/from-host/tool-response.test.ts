import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertAccepts, assertRefuses, assertStrict, SAMPLES } from '../../../test/sample-messages.ts';
import type { ErrorEntry } from '../../primitives/errors.ts';
import { type ToolResponse, toolResponseSchema } from './tool-response.ts';

const sample = SAMPLES.ToolResponse;
const entry = { code: 'E_FILE_IO', message: 'File not found: a.ts', path: 'a.ts', details: { reason: 'missing' } };

describe('ToolResponse', () => {
  test('has exactly its fields, none optional [S0-4]', () => assertStrict(toolResponseSchema, sample));

  for (const field of ['errors', 'warnings']) {
    test(`takes ${field} only as an array of coded entries [S0-4]`, () => {
      const bare = { code: 'E_GIT', message: 'm' };
      assertRefuses(toolResponseSchema, sample, field, [null, entry, ['text'], [{ ...bare, code: 'E_OTHER' }]]);
      assertRefuses(toolResponseSchema, sample, field, [[{ ...bare, extra: 1 }], [{ code: 'E_GIT' }]]);
      assertAccepts(toolResponseSchema, sample, field, [[], [bare], [entry, bare]]);
    });
  }

  test('carries any JSON as data, and null when there is none [S0-4]', () => {
    assertRefuses(toolResponseSchema, sample, 'data', [undefined, Number.NaN, () => 1, new Map()]);
    assertAccepts(toolResponseSchema, sample, 'data', [null, 0, '', [], {}, { a: [1] }]);
  });

  test('takes no negative duration [S0-4]', () => {
    assertRefuses(toolResponseSchema, sample, 'duration_ms', [-1, '3', null]);
    assertAccepts(toolResponseSchema, sample, 'duration_ms', [0, 0.25, 4000]);
  });

  test('the entries of the type are the ErrorEntry that tools produce [S0-4]', () => {
    const entries: readonly ErrorEntry[] = [{ code: 'E_GIT', message: 'm' }];
    const response: ToolResponse = { ...sample, errors: entries };
    const back: readonly ErrorEntry[] = toolResponseSchema.parse(response).errors;
    assert.deepEqual(back, entries);
  });
});
