import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newResult, newToolInfo, newWrapperInfo } from './new-result.ts';
import { validateResult } from './validate-result.ts';

test('S4-16 a new result has every required field and claims nothing', () => {
  const result = newResult({
    wrapper: newWrapperInfo('neutral', '1.2.3'),
    tool: newToolInfo({ name: 'ask', version: '0.1.0' }),
    runId: '2025-01-15T10-30-00-000000Z-000000',
    startedAtMs: 1_736_937_000_999,
  });
  assert.deepEqual(result, {
    schema_version: 1,
    wrapper: { name: 'tool-runtime', version: '1.2.3' },
    tool: { name: 'ask', version: '0.1.0', protocol_version: 1 },
    run_id: '2025-01-15T10-30-00-000000Z-000000',
    started_at: '2025-01-15T10:30:00Z',
    completed_at: '2025-01-15T10:30:00Z',
    duration_ms: 0,
    exit_code: 0,
    tool_exit_code: null,
    status: 'success',
    inputs: {},
    outputs: [],
    errors: [],
    warnings: [],
  });
  assert.deepEqual(validateResult(result), result);
});

test('S4-17 the wrapper is called as its profile says', () => {
  assert.deepEqual(newWrapperInfo('epack', '2.0.0'), { name: 'epack', version: '2.0.0' });
  assert.deepEqual(newWrapperInfo('neutral', '2.0.0'), { name: 'tool-runtime', version: '2.0.0' });
});

test('S4-17 a protocol version that is not said is the current one', () => {
  const tool = { name: 'ask', version: '1' };
  assert.equal(newToolInfo(tool).protocol_version, 1);
  assert.equal(newToolInfo({ ...tool, protocolVersion: 0 }).protocol_version, 1);
  assert.equal(newToolInfo({ ...tool, protocolVersion: 7 }).protocol_version, 7);
});
