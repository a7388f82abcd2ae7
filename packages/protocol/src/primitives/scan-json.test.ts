import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isToolError, type ToolError } from './errors.ts';
import { DEFAULT_MAX_DEPTH, type ScanLimits, scanJson } from './scan-json.ts';

function faultOf(text: string, limits?: ScanLimits): ToolError | undefined {
  try {
    scanJson(text, limits);
    return undefined;
  } catch (thrown) {
    assert.ok(isToolError(thrown), String(thrown));
    assert.equal(thrown.code, 'E_VALIDATION_FAIL');
    return thrown;
  }
}

const reasonOf = (text: string, limits?: ScanLimits) => faultOf(text, limits)?.details['reason'];

const isParseable = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** Keys in the text by tokens, keys in the value by counting: they differ exactly when a key is doubled. */
function hasDoubledKeys(text: string): boolean {
  const written = [...text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter((match) => match[1] !== undefined).length;
  let kept = 0;
  JSON.parse(text, (_key, value: unknown) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) kept += Object.keys(value).length;
    return value;
  });
  return written !== kept;
}

describe('scanJson', () => {
  const twins: readonly (readonly [reason: string, refused: string, accepted: string])[] = [
    ['duplicate_key', '{"a":1,"a":2}', '{"a":1,"b":2}'],
    ['duplicate_key', '{"a":1,"\\u0061":2}', '{"a":1,"\\u0062":2}'],
    ['duplicate_key', '{"x":[{"k":1,"k":1}]}', '{"x":[{"k":1},{"k":1}]}'],
    ['duplicate_key', '{"a":{"a":1},"a":2}', '{"a":{"a":1},"b":{"a":1}}'],
    ['duplicate_key', '{"":1,"":2}', '{"":1," ":2}'],
    ['duplicate_key', '{"\\n":1,"\\u000a":2}', '{"\\n":1,"\\\\n":2}'],
    ['forbidden_key', '{"__proto__":{}}', '{"proto":{}}'],
    ['forbidden_key', '{"a":[{"\\u005f_proto__":1}]}', '{"a":["__proto__"]}'],
    ['number_out_of_range', '1e400', '1e308'],
    ['number_out_of_range', '{"n":[-1E+400]}', '{"n":[-1E-400]}'],
    ['number_out_of_range', `1${'0'.repeat(309)}`, `1${'0'.repeat(308)}`],
    ['number_out_of_range', '1e0000400', '1e0000004'],
    ['syntax', '', '0'],
    ['syntax', ' ', ' 0 '],
    ['syntax', '{} {}', '[{},{}]'],
    ['syntax', '[1,]', '[1]'],
    ['syntax', '[,1]', '[0,1]'],
    ['syntax', '{"a":1,}', '{"a":1}'],
    ['syntax', '{a:1}', '{"a":1}'],
    ['syntax', "{'a':1}", '{"a":"\'"}'],
    ['syntax', '{"a" 1}', '{"a" :1}'],
    ['syntax', '{"a":}', '{"a":null}'],
    ['syntax', '[1}', '[1]'],
    ['syntax', '{"a":1]', '{"a":[1]}'],
    ['syntax', '[', '[]'],
    ['syntax', '{"a":{', '{"a":{}}'],
    ['syntax', ']', '[[]]'],
    ['syntax', '01', '0.1'],
    ['syntax', '-', '-0'],
    ['syntax', '1.', '1.0'],
    ['syntax', '.5', '0.5'],
    ['syntax', '1e', '1e1'],
    ['syntax', '1e+', '1E-1'],
    ['syntax', '+1', '1'],
    ['syntax', 'NaN', 'null'],
    ['syntax', 'Infinity', 'true'],
    ['syntax', 'tru', 'true'],
    ['syntax', 'falsey', 'false'],
    ['syntax', 'undefined', 'null'],
    ['syntax', '"abc', '"abc"'],
    ['syntax', '"a\nb"', '"a\\nb"'],
    ['syntax', '"\\x"', '"\\\\x"'],
    ['syntax', '"\\u12g4"', '"\\u12F4"'],
    ['syntax', '"\\u12', '"\\u1200"'],
    ['syntax', '"\\', '"\\\\"'],
    ['syntax', '"long enough to leave the short loop \u0001"', '"long enough to leave the short loop \u007f"'],
    ['syntax', '"long enough to leave the short loop', '"long enough to leave the short loop \\" and go on"'],
    ['syntax', '\ufeff{}', '{"\ufeff":1}'],
    ['syntax', '[1\u000b]', '[1\t]'],
    ['syntax', '[1\u00a0]', '[1\r\n]'],
    ['syntax', '// c\n1', '1'],
  ];
  for (const [reason, refused, accepted] of twins) {
    test(`refuses ${JSON.stringify(refused).slice(0, 60)} as ${reason} and accepts its twin`, () => {
      assert.equal(reasonOf(refused), reason);
      assert.equal(reasonOf(accepted), undefined);
      assert.ok(isParseable(accepted));
    });
  }

  test('names the offset and the path of what it refuses', () => {
    const { message, path, details } = faultOf('{"args":{"list":[0,{"x":1,"x":2}]}}') as ToolError;
    assert.deepEqual(
      { message, path, details },
      {
        message: 'Duplicate key in JSON: args.list[1].x at offset 26',
        path: 'args.list[1].x',
        details: { reason: 'duplicate_key', offset: 26 },
      },
    );
    assert.equal(faultOf('{"a":[1,2,x]}')?.message, 'Invalid JSON, unexpected "x": a[2] at offset 10');
    assert.equal(faultOf('{"a":1,}')?.message, 'Invalid JSON, unexpected "}": at offset 7');
    assert.equal(faultOf('[tru')?.message, 'Invalid JSON, unexpected end: [0] at offset 4');
  });

  test('never repeats a long key in full', () => {
    const key = 'secret'.repeat(100);
    const message = faultOf(`{"${key}":1,"${key}":2}`)?.message ?? '';
    assert.ok(message.length > 0 && message.length < 120, message);
  });

  test('finds a doubled key among thousands, and among keys of an object met again at the same depth', () => {
    const members = Array.from({ length: 5000 }, (_, index) => `"key${index}":${index}`);
    assert.equal(reasonOf(`{${members.join(',')}}`), undefined);
    assert.equal(reasonOf(`{${[...members, '"key4321":0'].join(',')}}`), 'duplicate_key');
    const wide = `{${members.slice(0, 20).join(',')}}`;
    assert.equal(reasonOf(`[${wide},${wide},{"key1":1}]`), undefined);
    assert.equal(reasonOf(`[${wide},{"key1":1,"key1":1}]`), 'duplicate_key');
  });

  test('counts the size in UTF-8 bytes', () => {
    assert.equal(reasonOf('"éé"', { maxBytes: 5 }), 'too_large');
    assert.equal(reasonOf('"éé"', { maxBytes: 6 }), undefined);
    assert.equal(reasonOf(`"${'x'.repeat(8 * 1024 * 1024)}"`), 'too_large');
    assert.equal(reasonOf(`"${'x'.repeat(8 * 1024 * 1024 - 2)}"`), undefined);
  });

  test('counts containers inside each other', () => {
    const nested = (depth: number) => '[{"a":'.repeat(depth / 2) + 1 + '}]'.repeat(depth / 2);
    assert.equal(reasonOf(nested(DEFAULT_MAX_DEPTH + 2)), 'too_deep');
    assert.equal(reasonOf(nested(DEFAULT_MAX_DEPTH)), undefined);
    assert.equal(reasonOf('[]', { maxDepth: 0 }), 'too_deep');
    assert.equal(reasonOf('"x"', { maxDepth: 0 }), undefined);
    assert.equal(reasonOf('[[],[],[]]', { maxDepth: 2 }), undefined);
  });

  test('refuses five million open brackets without recursing, with and without a depth limit', () => {
    for (const open of ['[', '{"a":']) {
      assert.equal(reasonOf(open.repeat(5_000_000), { maxBytes: 50_000_000 }), 'too_deep');
    }
    assert.equal(reasonOf('['.repeat(1_000_000), { maxDepth: Number.POSITIVE_INFINITY }), 'syntax');
  });

  test('counts keys in the whole text when a limit is given', () => {
    const text = '{"a":[{"b":1},{"b":2}]}';
    assert.equal(reasonOf(text, { maxKeys: 2 }), 'too_many_keys');
    assert.equal(reasonOf(text, { maxKeys: 3 }), undefined);
  });
});

/** JSON texts with freely chosen space, escapes and doubled keys. */
const jsonText = fc.letrec<{ value: string; object: string; array: string }>((tie) => {
  const space = fc.constantFrom('', '', '', ' ', '\n', '\t', '\r ');
  const key = fc.constantFrom('"a"', '"\\u0061"', '"b"', '"\\n"', '"ab"', '"é"', '"\\ud83d"', '"a\\\\"', '"c"', '"d"');
  const scalar = fc.oneof(
    fc.constantFrom('true', 'false', 'null', '0', '-0', '1.5e3', '-12E-7', '1e308', '""', '"\\u0000\\""'),
    fc.json({ maxDepth: 1 }),
    fc.string().map((text) => JSON.stringify(text)),
    fc.double({ noDefaultInfinity: true, noNaN: true }).map(String),
  );
  const member = fc.tuple(space, key, space, tie('value'), space).map(([a, k, b, v, c]) => `${a}${k}${b}:${v}${c}`);
  return {
    value: fc.oneof({ depthSize: 'small' }, scalar, tie('object'), tie('array')),
    object: fc.array(member, { maxLength: 4 }).map((members) => `{${members.join(',')}}`),
    array: fc
      .array(fc.tuple(space, tie('value'), space), { maxLength: 4 })
      .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
  };
}).value;

const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  remove: fc.nat({ max: 2 }),
  insert: fc.constantFrom(
    '',
    ',',
    ':',
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    '0',
    '-',
    '.',
    'e',
    'u',
    't',
    ' ',
    '\u0001',
    '\ufeff',
  ),
});
const mutatedText = fc.tuple(jsonText, fc.array(edit, { minLength: 1, maxLength: 3 })).map(([text, edits]) =>
  edits.reduce((current, { at, remove, insert }) => {
    const index = Math.floor(at * current.length);
    return current.slice(0, index) + insert + current.slice(index + remove);
  }, text),
);

describe('scanJson beside JSON.parse', () => {
  const agree = (text: string) => {
    const reason = reasonOf(text, { maxDepth: 1000 });
    if (reason === undefined) {
      assert.ok(isParseable(text), 'accepted, but JSON.parse throws');
      assert.equal(hasDoubledKeys(text), false, 'accepted with a doubled key');
    } else if (reason === 'syntax') assert.equal(isParseable(text), false, 'refused, but JSON.parse accepts');
    else if (reason === 'duplicate_key' && isParseable(text)) assert.ok(hasDoubledKeys(text));
    if (!isParseable(text)) assert.notEqual(reason, undefined);
  };

  test('agrees on every text that fast-check calls JSON', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        agree(text);
        assert.notEqual(reasonOf(text, { maxDepth: 1000 }), 'syntax');
      }),
      { numRuns: 500 },
    );
  });

  test('agrees on texts with odd space, escapes and doubled keys', () => {
    fc.assert(fc.property(jsonText, agree), { numRuns: 2000 });
  });

  test('agrees on damaged texts', () => {
    fc.assert(fc.property(mutatedText, agree), { numRuns: 5000 });
  });

  test('agrees on any string', () => {
    const unit = fc.constantFrom(...'{}[]:,"\\0123456789.eE+-truefalsn \n\t/bu');
    fc.assert(fc.property(fc.string({ unit, maxLength: 12 }), agree), { numRuns: 5000 });
  });
});
