/** What external tools leave as result.json: parseResult and validateResult on any bytes. */
import assert from 'node:assert/strict';
import { isToolError, type JsonObject } from '@tool-runtime/protocol';
import { parseResult, validateResult } from '../../../packages/sdk/src/external/protocol/read-result.ts';
import { resultText } from '../../../packages/sdk/src/external/result/new-result.ts';
import { FULL_RESULT } from '../../../packages/sdk/test/sample-result.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { oddJson } from '../json/odd-json.ts';
import { isPlainJson, readJsonFacts } from '../json/reference-json.ts';

const MAX_DEPTH = 256;

export const resultJson: FuzzTarget = {
  name: 'result-json',
  holds: 'a result is taken only when every reader of JSON understands it alike, and reads the same written out again',
  maxBytes: 64 * 1024,
  tokens: [
    ...Object.keys(FULL_RESULT).map((name) => `"${name}":`),
    '"ſtatus":"success"',
    '"Status":',
    '\\u0073tatus',
  ].concat(
    [
      '{}',
      '[]',
      'null',
      '"success"',
      '"failure"',
      '"partial"',
      '\\ud800',
      '1e400',
      '0',
      '""',
      '"2025-01-15T10:30:00Z"',
    ],
    ['"2025-02-30T10:30:00Z"', '"__proto__":', '\ufeff', '"outputs":[{"path":"../x"}]'],
  ),
  inputs: oddJson([FULL_RESULT, FULL_RESULT, { ...FULL_RESULT, outputs: [], warnings: [], status: 'success' }]),
  open: () => ({
    check(input) {
      const parsed = attempt(() => parseResult(input));
      checkParsing(input, parsed.value);
      if (parsed.value === undefined) return parsed.reason;
      const written = structuredClone(parsed.value);
      const validated = attempt(() => validateResult(parsed.value));
      assert.deepEqual(parsed.value, written, 'validating changed the value');
      if (validated.value === undefined) return validated.reason;
      const text = resultText(validated.value);
      const again = validateResult(parseResult(Buffer.from(text)));
      assert.equal(resultText(again), text, 'written out it reads differently');
      checkUnknownFields(parsed.value, validated.value);
      return `valid ${validated.value.status}`;
    },
    measure(input) {
      attempt(() => validateResult(parseResult(input)));
    },
  }),
};

interface Attempt<Value> {
  readonly value?: Value;
  readonly reason: string;
}

function attempt<Value>(work: () => Value): Attempt<Value> {
  try {
    return { value: work(), reason: '' };
  } catch (thrown) {
    assert.ok(isToolError(thrown), `not a ToolError: ${String(thrown)} ${thrown instanceof Error ? thrown.stack : ''}`);
    assert.equal(thrown.code, 'E_VALIDATION_FAIL');
    assert.equal(typeof thrown.details['reason'], 'string');
    return {
      reason: `${String(thrown.details['reason'])} ${String(thrown.details['field'] ?? '').replace(/\d+/g, '')}`,
    };
  }
}

/** Taken exactly when the slow reading finds nothing to object to. */
function checkParsing(input: Buffer, value: JsonObject | undefined): void {
  const text = decode(input);
  const facts = text === undefined ? undefined : readJsonFacts(text);
  const isObject = typeof facts?.value === 'object' && facts.value !== null && !Array.isArray(facts.value);
  const isGood = isPlainJson(facts, MAX_DEPTH) && isObject && facts.isWellFormed;
  assert.equal(value !== undefined, isGood, `parseResult ${value === undefined ? 'refused' : 'took'} it`);
  if (value !== undefined) assert.deepEqual(value, facts?.value);
}

function decode(input: Buffer): string | undefined {
  const text = input.toString('utf8');
  return Buffer.from(text).equals(input) ? text : undefined;
}

function checkUnknownFields(written: JsonObject, validated: JsonObject): void {
  for (const [name, value] of Object.entries(written)) {
    if (Object.hasOwn(FULL_RESULT, name) && name !== 'future') continue;
    assert.deepEqual(validated[name], value, 'an unknown field was lost');
  }
}
