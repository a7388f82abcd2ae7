import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  checkDigest,
  computeStatus,
  createRunIds,
  digest,
  fileDigest,
  formatTimestamp,
  newResult,
  newToolInfo,
  newWrapperInfo,
  normalizeExitCode,
  parseCapabilities,
  parseResult,
  parseTimestamp,
  resultText,
  runDigest,
  sameDigest,
  validateResult,
} from '@tool-runtime/sdk/tool-protocol';

test('a program of its own builds a result that reads back as valid [S4-2 S4-3 S4-16 S4-18]', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tool-protocol-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'a.txt'), 'hello\n');
  const output = { path: 'outputs/a.txt', media_type: 'text/plain', digest: await fileDigest(join(folder, 'a.txt')) };
  assert.ok(sameDigest(checkDigest(output.digest, 'digest'), digest('hello\n')));
  const startedAtMs = parseTimestamp('2026-11-16T12:00:00Z');
  const { exitCode, toolExitCode } = normalizeExitCode(12);
  const started = newResult({
    wrapper: newWrapperInfo('neutral', '1.0.0'),
    tool: newToolInfo({ name: 'a', version: '2' }),
    runId: createRunIds(() => startedAtMs).next(),
    startedAtMs,
  });
  const status = computeStatus({ errors: [], warnings: [], exitCode });
  const result = { ...started, outputs: [output], exit_code: exitCode, tool_exit_code: toolExitCode, status };
  const finished = { ...result, run_digest: runDigest(result) };
  const read = validateResult(parseResult(Buffer.from(resultText(finished))));
  assert.deepEqual(
    [read.status, read.exit_code, read.tool_exit_code, read.run_id.length, read.run_digest],
    ['failure', 1, 12, 34, finished.run_digest],
  );
  assert.equal(read.started_at, formatTimestamp(startedAtMs));
});

test('capabilities are read with the defaults of the protocol, and those of another tool are refused [S4-33 S4-35]', () => {
  const answer = Buffer.from('{"name":"a"}');
  assert.equal(parseCapabilities(answer, 'a').requires_pack, true);
  assert.throws(() => parseCapabilities(answer, 'b'), { code: 'E_VALIDATION_FAIL' });
});
