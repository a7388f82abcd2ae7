import { describe, test } from 'node:test';
import { assertAccepts, assertRefuses, assertStrict, SAMPLES } from '../../../test/sample-messages.ts';
import { ERROR_CODES } from '../../primitives/errors.ts';
import { errorMessageSchema } from './error-message.ts';

const sample = SAMPLES.ErrorMessage;

describe('ErrorMessage', () => {
  test('has exactly its four required fields [S0-6]', () => assertStrict(errorMessageSchema, sample));

  test('takes the ten codes and no other [S0-8]', () => {
    assertAccepts(errorMessageSchema, sample, 'code', ERROR_CODES);
    assertRefuses(errorMessageSchema, sample, 'code', ['E_CANCELLED', 'e_git', '', null, 4]);
  });

  test('has a null request_id when none is known, but never an empty one [S0-6]', () => {
    assertAccepts(errorMessageSchema, sample, 'request_id', [null, 'request-1']);
    assertRefuses(errorMessageSchema, sample, 'request_id', ['', undefined, 4]);
  });

  test('may carry details [S0-6]', () => {
    assertAccepts(errorMessageSchema, sample, 'details', [{}, { reason: 'unknown_session' }]);
    assertRefuses(errorMessageSchema, sample, 'details', ['text', [], null]);
  });
});
