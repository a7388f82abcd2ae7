import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToolError } from '@tool-runtime/protocol';
import { EMPTY_DIGEST } from '../../../test/sample-result.ts';
import { type CheckOutput, judgeOutputs } from './judge-outputs.ts';

const other = `sha256:${'1'.repeat(64)}`;

/** Every file is there and empty, but for names that say otherwise. */
const check: CheckOutput = async (path) => {
  if (path === 'broken disk') throw new ToolError('E_FILE_IO', 'x');
  if (path === 'link') throw new ToolError('E_VALIDATION_FAIL', 'x', { details: { reason: 'link' } });
  return { bytes: 0, digest: EMPTY_DIGEST };
};
const reasons = (list: readonly { details?: unknown }[]) =>
  list.map(({ details }) => (details as { reason: string }).reason);

test('S4-21 digest and size are filled in when they are absent', async () => {
  const { outputs, warnings } = await judgeOutputs([{ path: 'a', media_type: 'text/plain' }], check);
  assert.deepEqual(outputs, [{ path: 'a', media_type: 'text/plain', digest: EMPTY_DIGEST, bytes: 0 }]);
  assert.deepEqual(warnings, []);
});

test('S4-21 a digest that is given must be the one of the file', async () => {
  const claimed = [EMPTY_DIGEST, other, 'md5:x', EMPTY_DIGEST.toUpperCase()].map((digest, at) => ({
    path: `${at}`,
    media_type: '',
    digest,
  }));
  const { outputs, warnings } = await judgeOutputs(claimed, check);
  assert.deepEqual(
    outputs.map(({ path }) => path),
    ['0'],
  );
  assert.deepEqual(reasons(warnings), ['digest_mismatch', 'digest_mismatch', 'digest_mismatch']);
});

test('S4-21 a size that is given wrong is corrected', async () => {
  const { outputs } = await judgeOutputs([{ path: 'a', media_type: '', bytes: 99 }], check);
  assert.equal(outputs[0]?.bytes, 0);
});

test('S4-41 an entry that may not be one is dropped with a warning, the others stay', async () => {
  const claimed = ['a', 'link', 'a', 'result.json', 'b'].map((path) => ({ path, media_type: '' }));
  const { outputs, warnings } = await judgeOutputs(claimed, check);
  assert.deepEqual(
    outputs.map(({ path }) => path),
    ['a', 'b'],
  );
  assert.deepEqual(
    warnings.map(({ code, path }) => `${code} ${path}`),
    ['INVALID_OUTPUT_PATH link', 'INVALID_OUTPUT_PATH a', 'INVALID_OUTPUT_PATH result.json'],
  );
  assert.deepEqual(reasons(warnings), ['link', 'listed_twice', 'reserved']);
});

test('S4-41 an entry with the field of a warning is still an output', async () => {
  const odd = { path: 'a', media_type: '', code: 'X', message: 'y' };
  const { outputs } = await judgeOutputs([odd], check);
  assert.deepEqual(outputs, [{ ...odd, digest: EMPTY_DIGEST, bytes: 0 }]);
});

test('S4-41 a thousand outputs are looked at, the rest is dropped with one warning', async () => {
  const claimed = Array.from({ length: 5000 }, (_, at) => ({ path: `${at}`, media_type: '' }));
  const { outputs, warnings } = await judgeOutputs(claimed, check);
  assert.equal(outputs.length, 1000);
  assert.deepEqual(reasons(warnings), ['too_many']);
  assert.deepEqual((await judgeOutputs(claimed.slice(0, 1000), check)).warnings, []);
});

test('S4-41 a failing disk is no fault of the path', async () => {
  await assert.rejects(judgeOutputs([{ path: 'broken disk', media_type: '' }], check), { code: 'E_FILE_IO' });
});
