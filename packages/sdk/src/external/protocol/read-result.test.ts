import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isToolError, type JsonObject, type JsonValue } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { FULL_RESULT } from '../../../test/sample-result.ts';
import { newResult } from '../result/new-result.ts';
import { parseResult, REQUIRED_FIELDS, validateResult } from './read-result.ts';

/** The full result with the value at a dotted path replaced, or taken away. */
function bent(path: string, value: JsonValue | undefined): JsonObject {
  const copy = structuredClone(FULL_RESULT) as unknown as Record<string, JsonValue>;
  const names = path.split('.');
  const last = names.pop() ?? '';
  const holder = names.reduce<Record<string, JsonValue>>(
    (found, name) => found[name] as Record<string, JsonValue>,
    copy,
  );
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return copy;
}

function refusalOf(value: unknown): JsonObject | undefined {
  try {
    validateResult(value);
    return undefined;
  } catch (thrown) {
    assert.ok(isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL', String(thrown));
    return thrown.details;
  }
}

test('a whole result is valid and its unknown fields are kept [S4-18]', () => {
  assert.deepEqual(validateResult(FULL_RESULT), FULL_RESULT);
});

test('each required field is missed by name when it is absent, null or blank [S4-18]', () => {
  for (const field of REQUIRED_FIELDS) {
    const missing = { reason: 'missing_required_field', field };
    assert.deepEqual(refusalOf(bent(field, undefined)), missing);
    assert.deepEqual(refusalOf(bent(field, null)), missing);
  }
  for (const field of ['wrapper.name', 'tool.name', 'run_id', 'started_at', 'completed_at', 'status']) {
    assert.deepEqual(refusalOf(bent(field, '')), { reason: 'missing_required_field', field });
  }
  assert.deepEqual(refusalOf(bent('schema_version', 0)), { reason: 'missing_required_field', field: 'schema_version' });
  assert.deepEqual(refusalOf(bent('tool', undefined)), { reason: 'missing_required_field', field: 'tool.name' });
});

test('both timestamps must have the one form [S4-18]', () => {
  for (const field of ['started_at', 'completed_at']) {
    assert.deepEqual(refusalOf(bent(field, '2025-01-15T10:30:00+00:00')), { reason: 'invalid_timestamp', field });
  }
});

test('a status is one of three words [S4-18]', () => {
  for (const status of ['SUCCESS', 'ok', 'toString', 'failed']) {
    assert.deepEqual(refusalOf(bent('status', status)), { reason: 'invalid_status', field: 'status' });
  }
  for (const status of ['success', 'failure', 'partial']) assert.equal(refusalOf(bent('status', status)), undefined);
});

test('inputs are an object, nothing else [S4-18]', () => {
  for (const inputs of [[], 'text', 1, true]) {
    assert.deepEqual(refusalOf(bent('inputs', inputs)), { reason: 'wrong_type', field: 'inputs' });
  }
  assert.equal(refusalOf(bent('inputs', {})), undefined);
});

test('no known field may have another type [S4-18 S4-21 S4-22 S4-23 S4-24 S4-25 S4-26]', () => {
  const wrong: readonly (readonly [string, JsonValue])[] = [
    ['schema_version', '1'],
    ['schema_version', 1.5],
    ['wrapper', 'x'],
    ['wrapper.version', 1],
    ['tool.protocol_version', '1'],
    ['run_id', 7],
    ['pack_path', {}],
    ['duration_ms', 'long'],
    ['exit_code', '0'],
    ['tool_exit_code', false],
    ['outputs', {}],
    ['errors', 'none'],
    ['sync', []],
    ['sync.ledger_id', 3],
    ['identity', 'ada'],
    ['identity.actor', ['ada']],
    ['run_context.ci', 'true'],
    ['run_context.commit', 1],
    ['run_digest', 1],
    ['signing.issuer', {}],
    ['resolved_from.registry', 0],
  ];
  for (const [field, value] of wrong) {
    assert.deepEqual(refusalOf(bent(field, value)), { reason: 'wrong_type', field }, field);
  }
  const inLists: readonly (readonly [string, JsonValue, string])[] = [
    ['outputs', ['x'], 'outputs[0]'],
    ['outputs', [{ path: 'a' }, { path: 1 }], 'outputs[1].path'],
    ['outputs', [{ path: 'a', bytes: '1' }], 'outputs[0].bytes'],
    ['errors', [null], 'errors[0]'],
    ['warnings', [{ code: 1 }], 'warnings[0].code'],
  ];
  for (const [field, value, at] of inLists) {
    assert.deepEqual(refusalOf(bent(field, value)), { reason: 'wrong_type', field: at });
  }
});

test('what is absent or null counts as a language with zero values would read it [S4-18]', () => {
  const { duration_ms, exit_code, tool_exit_code, identity, ...rest } = structuredClone(FULL_RESULT);
  const read = validateResult({ ...rest, pack_path: null, outputs: [{ path: 'a' }], errors: [{}] });
  assert.deepEqual([read.duration_ms, read.exit_code, read.tool_exit_code], [0, 0, null]);
  assert.deepEqual([Object.hasOwn(read, 'identity'), Object.hasOwn(read, 'pack_path')], [false, false]);
  assert.deepEqual(read.outputs, [{ path: 'a', media_type: '' }]);
  assert.deepEqual(read.errors, [{ code: '', message: '' }]);
});

test('a field that a reader without case would take for a known one is refused [S4-18]', () => {
  for (const field of ['Status', 'STATUS', '\u017ftatus', 'tool.Name', 'tool.NAME']) {
    assert.equal(refusalOf(bent(field, 'success'))?.['reason'], 'ambiguous_field', field);
  }
  assert.equal(refusalOf(bent('Statuses', 'success')), undefined);
});

test('nothing but an object is a result [S4-18]', () => {
  for (const value of [undefined, null, [], 'x', 1]) assert.equal(refusalOf(value)?.['reason'], 'not_an_object');
});

test('no JSON at all makes the validation do anything but answer or refuse [S4-18]', () => {
  const base = newResult({
    wrapper: { name: 'w', version: '' },
    tool: { name: 't', version: '', protocol_version: 1 },
    runId: 'r',
    startedAtMs: 0,
  });
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(FULL_RESULT)), fc.jsonValue(), (field, value) => {
      refusalOf({ ...base, [field]: value });
    }),
  );
});

interface Vectors {
  readonly duplicateKeys: { readonly refused: readonly string[]; readonly accepted: readonly string[] };
}
const { duplicateKeys }: Vectors = JSON.parse(
  readFileSync(new URL('../fixtures/protocol-vectors.json', import.meta.url), 'utf8'),
);

function reasonOf(bytes: Uint8Array | string, maxBytes?: number): JsonValue | undefined {
  try {
    parseResult(typeof bytes === 'string' ? Buffer.from(bytes) : bytes, maxBytes);
    return undefined;
  } catch (thrown) {
    assert.ok(isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL');
    return thrown.details['reason'] ?? null;
  }
}

test('a key that stands twice is refused at any depth, after unescaping [S4-20]', () => {
  for (const text of duplicateKeys.refused) assert.equal(reasonOf(text), 'duplicate_key', text);
  for (const text of duplicateKeys.accepted) assert.deepEqual(parseResult(Buffer.from(text)), JSON.parse(text));
});

test('any key is refused when an escaped spelling of it is beside it [S4-20] (deep)', () => {
  const key = fc.string({ minLength: 1, unit: 'binary' }).filter((text) => text !== '__proto__' && text.isWellFormed());
  fc.assert(
    fc.property(key, (name) => {
      const escaped = [...Array(name.length).keys()]
        .map((at) => `\\u${name.charCodeAt(at).toString(16).padStart(4, '0')}`)
        .join('');
      assert.equal(reasonOf(`{"deep":[{${JSON.stringify(name)}:1,"${escaped}":2}]}`), 'duplicate_key');
      assert.equal(reasonOf(`{"deep":[{"${escaped}":2}]}`), undefined);
    }),
  );
});

test('trailing data and broken JSON are refused [S4-20]', () => {
  for (const text of ['{} {}', '{}x', '{}\0', '', '{', '{"a":}', "{'a':1}", '\ufeff{}']) {
    assert.equal(reasonOf(text), 'syntax', text);
  }
  assert.deepEqual(parseResult(Buffer.from(' {} \n')), {});
});

test('a text over the limit is refused and one at the limit is read [S4-20]', () => {
  const text = JSON.stringify({ text: 'x'.repeat(100) });
  assert.equal(reasonOf(text, text.length - 1), 'too_large');
  assert.equal(reasonOf(text, text.length), undefined);
  const full = Buffer.alloc(10 * 1024 * 1024 + 1, ' ');
  full.write('{}');
  assert.equal(reasonOf(full), 'too_large');
  assert.equal(reasonOf(full.subarray(0, -1)), undefined);
  assert.equal(reasonOf(Buffer.alloc(11, 0xff), 10), 'too_large', 'before it is decoded');
  assert.equal(reasonOf(Buffer.alloc(10, 0xff), 10), 'invalid_unicode');
});

test('what is no UTF-8 or half a character is refused [S4-20]', () => {
  for (const bytes of [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), '{"a":"\\ud800"}', '{"\\udc00":1}']) {
    assert.equal(reasonOf(bytes), 'invalid_unicode');
  }
  assert.deepEqual(parseResult(Buffer.from('{"a":"\\ud83d\\ude00","b":"\\\\ud800"}')), { a: '😀', b: '\\ud800' });
});

test('only an object is a result [S4-20]', () => {
  for (const text of ['[]', '1', '"x"', 'null', 'true']) assert.equal(reasonOf(text), 'not_an_object', text);
});

test('a key that would change prototypes is refused, plain or escaped [S4-20]', () => {
  for (const text of ['{"__proto__":{"status":"success"}}', '{"a":{"\\u005f_proto__":1}}']) {
    assert.equal(reasonOf(text), 'forbidden_key');
  }
  assert.deepEqual(parseResult(Buffer.from('{"constructor":1}')), JSON.parse('{"constructor":1}'));
});

test('unknown fields are kept as they are [S4-20]', () => {
  const text = '{"future":{"list":[1,2.5,null,true,"x"]},"status":"success"}';
  assert.deepEqual(parseResult(Buffer.from(text)), JSON.parse(text));
});
