import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzDispatcher } from './fuzz-dispatcher.ts';

test('S0-8 S0-9 S0-10 twenty thousand random lines get one coded answer each and the session survives', async () => {
  const report = await fuzzDispatcher({ lines: 20_000, seed: 42 });
  assert.equal(report.verified, true);
  for (const code of ['ok', 'E_POLICY', 'E_VALIDATION_FAIL']) {
    assert.ok((report.byCode[code] ?? 0) > 0, `the lines never led to ${code}: ${JSON.stringify(report.byCode)}`);
  }
});
