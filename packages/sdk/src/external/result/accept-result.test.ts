import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type JsonValue, ToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { EMPTY_DIGEST, FULL_RESULT } from '../../../test/sample-result.ts';
import type { RunFile, RunResult } from '../../contracts/external.ts';
import { KnownValues } from '../../redaction/known-values.ts';
import { type AcceptInput, acceptToolResult, type CheckOutput, judgeOutputs, scrubResult } from './accept-result.ts';
import { createFinish } from './finish-result.ts';
import { runDigest } from './new-result.ts';

/** The result the wrapper would write by itself: its facts are those of the full one, the rest is empty. */
const { sync, identity, run_context, run_digest, future, ...facts } = FULL_RESULT;
const EXPECTED: RunResult = {
  ...facts,
  inputs: { asked: true },
  outputs: [],
  errors: [],
  warnings: [],
  status: 'success',
};
const VALID = { ...FULL_RESULT, run_digest: runDigest({ ...FULL_RESULT }) };

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
const finish = createFinish({}, { platform: 'linux', arch: 'x64', profile: 'neutral' });

const accept = (file: RunFile, change: Partial<RunResult> = {}, input: Partial<AcceptInput> = {}) =>
  acceptToolResult({
    file,
    expected: { ...EXPECTED, ...change },
    checkOutput: async () => ({ bytes: 12, digest: EMPTY_DIGEST }),
    finish,
    ...input,
  });
const codes = ({ warnings }: RunResult) => warnings.map(({ code }) => code);

describe('a tool that wrote a valid result', () => {
  test('keeps its file byte for byte when all of it is so [S4-40]', async () => {
    const accepted = await accept(bytes(VALID));
    assert.deepEqual(accepted, {
      state: 'tool_result_valid',
      result: VALID,
      keepOriginal: false,
      rewrite: false,
      corrected: [],
    });
  });

  test('has its status judged anew and written, unknown fields and all [S4-41]', async () => {
    const accepted = await accept(bytes({ ...VALID, status: 'success' }));
    assert.equal(accepted.result.status, 'partial');
    assert.deepEqual([accepted.rewrite, accepted.keepOriginal], [true, true]);
    assert.deepEqual(accepted.corrected, ['status']);
    assert.deepEqual(accepted.result, VALID);
  });

  test('is not believed about how it ended, when, and with what [S4-41]', async () => {
    const lies = {
      ...VALID,
      exit_code: 0,
      tool_exit_code: 0,
      duration_ms: 1,
      started_at: '1999-01-01T00:00:00Z',
      completed_at: '1999-01-01T00:00:00Z',
      tool: { ...VALID.tool, version: '99' },
      wrapper: { ...VALID.wrapper, version: '99' },
      pack_digest: `sha256:${'1'.repeat(64)}`,
      signing: { issuer: 'me' },
      run_digest: `sha256:${'2'.repeat(64)}`,
    };
    const { result, corrected } = await accept(bytes(lies), { exit_code: 1, tool_exit_code: 42 });
    const truth: RunResult = { ...VALID, exit_code: 1, tool_exit_code: 42, status: 'failure' };
    assert.deepEqual(result, { ...truth, run_digest: runDigest(truth) });
    assert.deepEqual(corrected, [
      'completed_at',
      'duration_ms',
      'exit_code',
      'pack_digest',
      'run_digest',
      'signing',
      'started_at',
      'status',
      'tool',
      'tool_exit_code',
      'wrapper',
    ]);
  });

  test('cannot claim a pack, a signer or a source that the wrapper does not know of [S4-26]', async () => {
    const { pack_path, pack_digest, signing, resolved_from, ...expected } = EXPECTED;
    const { result } = await acceptToolResult({
      file: bytes(VALID),
      expected,
      checkOutput: async () => ({ bytes: 12, digest: EMPTY_DIGEST }),
      finish,
    });
    for (const field of ['pack_path', 'pack_digest', 'signing', 'resolved_from']) {
      assert.equal(Object.hasOwn(result, field), false, field);
    }
  });

  test('gets signer and source from the lock [S4-26]', async () => {
    const { signing, resolved_from, ...unsigned } = VALID;
    const { result } = await accept(bytes(unsigned));
    assert.deepEqual([result.signing, result.resolved_from], [EXPECTED.signing, EXPECTED.resolved_from]);
  });

  test('loses invalid outputs, and is partial for it [S4-41]', async () => {
    const checkOutput = async () => {
      throw new ToolError('E_VALIDATION_FAIL', 'x', { details: { reason: 'link' } });
    };
    const { result, rewrite } = await accept(bytes({ ...VALID, warnings: [], status: 'success' }), {}, { checkOutput });
    assert.deepEqual(
      [result.outputs, codes(result), result.status, rewrite],
      [[], ['INVALID_OUTPUT_PATH'], 'partial', true],
    );
  });

  test('has what the wrapper found added to what it said [S4-40]', async () => {
    const killed = { code: 'COMPONENT_KILLED', message: 'Ran too long' };
    const { result } = await accept(bytes(VALID), { errors: [killed], exit_code: 1, tool_exit_code: -1 });
    assert.deepEqual(result.errors, [killed]);
    assert.deepEqual([codes(result), result.status], [['SLOW'], 'failure']);
  });

  test('has fields it left out written [S4-15]', async () => {
    const { tool_exit_code, ...without } = VALID;
    const { rewrite, corrected } = await accept(bytes(without));
    assert.deepEqual([rewrite, corrected], [true, ['tool_exit_code']]);
  });
});

describe('a tool that wrote no valid result', () => {
  test('is partial at best when it wrote none [S4-40]', async () => {
    const { state, result, keepOriginal, rewrite } = await accept('missing');
    assert.deepEqual([state, result.status, keepOriginal, rewrite], ['backfilled', 'partial', false, true]);
    assert.deepEqual(codes(result), ['RESULT_MISSING']);
    assert.deepEqual(result.inputs, { asked: true });
  });

  test('failed when its program did [S4-40]', async () => {
    const { result } = await accept('missing', { exit_code: 3, tool_exit_code: 3 });
    assert.deepEqual([result.status, result.exit_code, codes(result)], ['failure', 3, ['RESULT_MISSING']]);
  });

  const INVALID: readonly (readonly [string, RunFile, JsonValue])[] = [
    ['oversized', 'too_large', 'too_large'],
    ['unreadable', 'unreadable', 'unreadable'],
    ['malformed', Buffer.from('{'), 'syntax'],
    ['doubled', Buffer.from('{"status":"failure","st\\u0061tus":"success"}'), 'duplicate_key'],
    ['incomplete', bytes({ ...VALID, inputs: null }), 'missing_required_field'],
    ['mistyped', bytes({ ...VALID, duration_ms: 'long' }), 'wrong_type'],
    ['of another run', bytes({ ...VALID, run_id: '2025-01-15T10-30-00-000000Z-000001' }), 'foreign'],
    ['of another tool', bytes({ ...VALID, tool: { ...VALID.tool, name: 'other' } }), 'foreign'],
    ['of another wrapper', bytes({ ...VALID, wrapper: { ...VALID.wrapper, name: 'epack' } }), 'foreign'],
    ['of another schema', bytes({ ...VALID, schema_version: 2 }), 'foreign'],
  ];
  for (const [what, file, reason] of INVALID) {
    test(`has its ${what} file kept beside the result that takes its place [S4-40]`, async () => {
      const { state, result, keepOriginal, rewrite } = await accept(file);
      assert.deepEqual([state, keepOriginal, rewrite, result.status], ['backfilled', true, true, 'partial']);
      assert.deepEqual(
        result.warnings.map(({ code, details }) => [code, details]),
        [['RESULT_INVALID', { reason }]],
      );
      assert.deepEqual(result.outputs, []);
      assert.equal(Object.hasOwn(result, 'future'), false);
    });
  }
});

test('a tool that never ran fails without a word about its result [S4-39]', async () => {
  const errors = [{ code: 'COMPONENT_FAILED', message: 'Could not be started' }];
  const { state, result, rewrite } = await accept('missing', { tool_exit_code: null, exit_code: 14, errors });
  assert.deepEqual([state, rewrite, result.status, result.tool_exit_code], ['exec_failed', true, 'failure', null]);
  assert.deepEqual([result.errors, result.warnings], [errors, []]);
});

test('a file that lies there although the tool never ran is not its result [S4-39]', async () => {
  const { state, result, keepOriginal } = await accept(bytes(VALID), { tool_exit_code: null, exit_code: 11 });
  assert.deepEqual([state, keepOriginal, result.outputs], ['exec_failed', true, []]);
});

test('however a run ends, its result says who, where and what digest [S4-32 S4-27]', async () => {
  const here = createFinish(
    { TOOL_IDENTITY: 'ada', GITHUB_ACTIONS: 'true' },
    { platform: 'linux', arch: 'x64', profile: 'neutral' },
  );
  const { identity: _, run_context: __, ...plain } = VALID;
  const ends = [
    await accept(bytes(plain), {}, { finish: here }),
    await accept('missing', {}, { finish: here }),
    await accept('too_large', {}, { finish: here }),
    await accept('missing', { tool_exit_code: null, exit_code: 10 }, { finish: here }),
  ];
  assert.deepEqual(
    ends.map(({ state }) => state),
    ['tool_result_valid', 'backfilled', 'backfilled', 'exec_failed'],
  );
  for (const { result } of ends) {
    assert.deepEqual(result.identity, { actor: 'ada', actor_type: 'unknown' });
    assert.equal(result.run_context?.ci_provider, 'github_actions');
    assert.equal(result.run_digest, runDigest(result));
  }
});

const other = `sha256:${'1'.repeat(64)}`;

/** Every file is there and empty, but for names that say otherwise. */
const check: CheckOutput = async (path) => {
  if (path === 'broken disk') throw new ToolError('E_FILE_IO', 'x');
  if (path === 'link') throw new ToolError('E_VALIDATION_FAIL', 'x', { details: { reason: 'link' } });
  return { bytes: 0, digest: EMPTY_DIGEST };
};
const reasons = (list: readonly { details?: unknown }[]) =>
  list.map(({ details }) => (details as { reason: string }).reason);

test('digest and size are filled in when they are absent [S4-21]', async () => {
  const { outputs, warnings } = await judgeOutputs([{ path: 'a', media_type: 'text/plain' }], check);
  assert.deepEqual(outputs, [{ path: 'a', media_type: 'text/plain', digest: EMPTY_DIGEST, bytes: 0 }]);
  assert.deepEqual(warnings, []);
});

test('a digest that is given must be the one of the file [S4-21]', async () => {
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

test('a size that is given wrong is corrected [S4-21]', async () => {
  const { outputs } = await judgeOutputs([{ path: 'a', media_type: '', bytes: 99 }], check);
  assert.equal(outputs[0]?.bytes, 0);
});

test('an entry that may not be one is dropped with a warning, the others stay [S4-41]', async () => {
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

test('an entry with the field of a warning is still an output [S4-41]', async () => {
  const odd = { path: 'a', media_type: '', code: 'X', message: 'y' };
  const { outputs } = await judgeOutputs([odd], check);
  assert.deepEqual(outputs, [{ ...odd, digest: EMPTY_DIGEST, bytes: 0 }]);
});

test('a thousand outputs are looked at, the rest is dropped with one warning [S4-41]', async () => {
  const claimed = Array.from({ length: 5000 }, (_, at) => ({ path: `${at}`, media_type: '' }));
  const { outputs, warnings } = await judgeOutputs(claimed, check);
  assert.equal(outputs.length, 1000);
  assert.deepEqual(reasons(warnings), ['too_many']);
  assert.deepEqual((await judgeOutputs(claimed.slice(0, 1000), check)).warnings, []);
});

test('a failing disk is no fault of the path [S4-41]', async () => {
  await assert.rejects(judgeOutputs([{ path: 'broken disk', media_type: '' }], check), { code: 'E_FILE_IO' });
});

const VALUE = 'top"secret\\value';
const secrets = new KnownValues([VALUE, 'abc', '-----BEGIN\nline-of-a-private-key\nend']);

describe('secrets a tool was given', () => {
  test('are hidden in text, whole and line by line, unless they are too short to be secrets [S4-44]', () => {
    assert.equal(secrets.text(`a ${VALUE} b abc`), 'a [redacted] b abc');
    assert.equal(secrets.text('x line-of-a-private-key y'), 'x [redacted] y');
    const both = new KnownValues(['secret', 'secret-longer']);
    assert.equal(both.text('secret-longer secret'), '[redacted] [redacted]');
  });

  test('are hidden in values and names of JSON, and nothing else is touched [S4-44]', () => {
    const value = { a: [`x${VALUE}`], [VALUE]: 1, b: { c: null } };
    assert.deepEqual(secrets.json(value), { a: ['x[redacted]'], '[redacted]': 1, b: { c: null } });
    const clean = { a: [1, 'x'], b: { c: null } };
    assert.equal(secrets.json(clean), clean);
  });

  test('are taken out of a result however they are escaped [S4-44]', () => {
    const escaped = [...VALUE].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
    for (const text of [JSON.stringify({ a: VALUE }), `{"a":"${escaped}"}`]) {
      assert.deepEqual(JSON.parse(scrubResult(Buffer.from(text), secrets) ?? ''), { a: '[redacted]' });
    }
    assert.equal(scrubResult(Buffer.from(`{"a":${JSON.stringify(VALUE)}`), secrets), '{"a":"[redacted]"');
    assert.equal(scrubResult(Buffer.from('{"a":1}'), secrets), undefined);
  });

  test('are in no JSON that comes back [S4-44]', () => {
    const plain = new KnownValues(['hunter2']);
    const text = fc.constantFrom('hunter2', 'xhunter2y', 'hunter', 'hunhunter2ter2');
    const arbitrary = fc.object({ key: text, values: [text, fc.integer(), fc.constant(null)] });
    fc.assert(
      fc.property(arbitrary, (value) => {
        assert.equal(JSON.stringify(plain.json(value as JsonValue)).includes('hunter2'), false);
      }),
    );
  });
});
