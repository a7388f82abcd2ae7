import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { FULL_RESULT } from '../../../test/sample-result.ts';
import { createRunFolder } from '../../platform/runs/run-folder.ts';
import { createRunIds } from '../protocol/run-ids.ts';
import type { AcceptedResult } from '../result/accept-result.ts';
import { resultText } from '../result/new-result.ts';
import { createRunRecord } from './run-attempt.ts';

const ACCEPTED: AcceptedResult = {
  state: 'backfilled',
  result: FULL_RESULT,
  keepOriginal: true,
  rewrite: true,
  corrected: [],
};

function scene(t: TestContext) {
  const base = mkdtempSync(join(tmpdir(), 'settle-'));
  const folder = createRunFolder({ base, tool: 'ask', withPack: false, ids: createRunIds(Date.now) });
  t.after(() => {
    folder.close();
    rmSync(base, { recursive: true, force: true });
  });
  return { folder, record: createRunRecord(folder), at: (name: string) => join(folder.path, name) };
}

test('the result is written and the file of the tool stays beside it [S4-40]', (t) => {
  const { folder, record, at } = scene(t);
  writeFileSync(at('result.json'), 'not json');
  record.settle(ACCEPTED);
  assert.equal(readFileSync(at('result.json'), 'utf8'), resultText(FULL_RESULT));
  assert.equal(readFileSync(at('result.json.tool'), 'utf8'), 'not json');
  assert.deepEqual(readdirSync(folder.path).sort(), ['result.json', 'result.json.tool']);
});

test('a file that is the result is not touched [S4-40]', (t) => {
  const { record, folder, at } = scene(t);
  writeFileSync(at('result.json'), 'as the tool wrote it');
  record.settle({ ...ACCEPTED, state: 'tool_result_valid', keepOriginal: false, rewrite: false });
  assert.equal(readFileSync(at('result.json'), 'utf8'), 'as the tool wrote it');
  assert.deepEqual(readdirSync(folder.path), ['result.json']);
});

test('a run that has ended writes nothing more and cannot end otherwise [S4-42]', (t) => {
  const { record, at } = scene(t);
  assert.equal(record.state, 'created');
  record.settle(ACCEPTED);
  assert.equal(record.state, 'backfilled');
  writeFileSync(at('result.json'), 'marked');
  record.settle({ ...ACCEPTED });
  assert.equal(readFileSync(at('result.json'), 'utf8'), 'marked');
  for (const state of ['exec_failed', 'tool_result_valid'] as const) {
    assert.throws(
      () => record.settle({ ...ACCEPTED, state }),
      (thrown) => isToolError(thrown),
    );
  }
  assert.equal(readFileSync(at('result.json'), 'utf8'), 'marked');
});
