import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RUN_STATUSES } from '../../contracts/external.ts';
import {
  EXTERNAL_LIMITS,
  PROTOCOL_VERSION,
  RESULT_SCHEMA_VERSION,
  RUN_CODES,
  WRAPPER_EXIT,
} from './protocol-constants.ts';

test('versions and the three status words are those of the protocol [S4-1]', () => {
  assert.deepEqual([PROTOCOL_VERSION, RESULT_SCHEMA_VERSION], [1, 1]);
  assert.deepEqual([...RUN_STATUSES], ['success', 'failure', 'partial']);
});

test('exits of the wrapper are 10 to 17, one per cause [S4-43]', () => {
  assert.deepEqual(WRAPPER_EXIT, {
    not_found: 10,
    digest_mismatch: 11,
    pack_verification: 12,
    lockfile: 13,
    run_failed: 14,
    config_write: 15,
    pack_required: 16,
    dependency_missing: 17,
  });
});

test('the wrapper has sixteen codes and the limits of the protocol', () => {
  assert.equal(new Set(RUN_CODES).size, 16);
  const { resultBytes, capabilitiesBytes, capabilitiesMs, configBytes, lockBytes, lockTools, lockPlatforms } =
    EXTERNAL_LIMITS;
  assert.deepEqual(
    [resultBytes, capabilitiesBytes, capabilitiesMs, configBytes, lockBytes, lockTools, lockPlatforms],
    [10_485_760, 65_536, 5000, 1_048_576, 10_485_760, 1000, 100],
  );
});
