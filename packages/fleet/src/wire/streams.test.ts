import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { judgeVersion } from './streams.ts';

test('servers older than 2.15 are refused, and newer ones are not', () => {
  for (const version of ['2.9.10', '2.10.27', '2.14.99', '1.99.0', '0']) {
    assert.throws(
      () => judgeVersion('n1', version),
      (error) =>
        isToolError(error) &&
        error.details['reason'] === 'unsafe_fleet' &&
        /upgrade/.test(String(error.details['next'])),
      version,
    );
  }
  for (const version of ['2.15.0', '2.15.1', '2.16.0-RC.1', '3.0.0']) judgeVersion('n1', version);
});
