import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { describeIssues } from './describe-issues.ts';

function words(schema: z.ZodType, input: unknown): string {
  const parsed = schema.safeParse(input);
  assert.equal(parsed.success, false, 'the input was meant to be refused');
  return describeIssues(parsed.error as z.ZodError, input).message;
}

const field = (schema: z.ZodType, value: unknown) => words(z.object({ f: schema }), { f: value });

describe('describeIssues', () => {
  test('lists every bad field with what was expected and what came [S0-3]', () => {
    const schema = z.strictObject({
      path: z.string(),
      max_bytes: z.int().positive(),
      deep: z.object({ on: z.boolean() }),
    });
    const input = { path: 7, max_bytes: 1.5, deep: {}, glob: '*', 'odd key': 1 };
    const parsed = schema.safeParse(input);
    assert.deepEqual(describeIssues(parsed.error as z.ZodError, input), {
      message:
        'path: expected string, got 7; max_bytes: expected int, got 1.5; deep.on: expected boolean, got nothing; ' +
        'glob: is not a known field; ["odd key"]: is not a known field',
      path: 'path',
      issues: [
        { path: 'path', message: 'expected string, got 7' },
        { path: 'max_bytes', message: 'expected int, got 1.5' },
        { path: 'deep.on', message: 'expected boolean, got nothing' },
        { path: 'glob', message: 'is not a known field' },
        { path: '["odd key"]', message: 'is not a known field' },
      ],
    });
  });

  test('says what came also without the input, as far as zod tells', () => {
    const error = z.object({ a: z.string(), b: z.string() }).safeParse({ a: 7 }).error as z.ZodError;
    assert.equal(describeIssues(error).message, 'a: expected string, got number; b: expected string, got nothing');
  });

  test('has no path when the value as a whole is wrong', () => {
    const error = z.object({}).safeParse([]).error as z.ZodError;
    assert.deepEqual(describeIssues(error, []), {
      message: 'expected object, got array',
      issues: [{ path: '', message: 'expected object, got array' }],
    });
  });

  test('stops after eight fields and says how many more there are', () => {
    const input = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`k${index}`, 1]));
    const description = describeIssues(z.strictObject({}).safeParse(input).error as z.ZodError, input);
    assert.equal(description.issues.length, 8);
    assert.match(description.message, /k7: is not a known field; and 3 more$/);
  });

  const phrases: readonly (readonly [z.ZodType, unknown, string])[] = [
    [z.enum(['a', 'b']), 'c', 'f: expected one of "a"|"b", got "c"'],
    [z.literal(1), 2, 'f: expected 1, got 2'],
    [z.number().min(0), -3, 'f: expected number to be >=0, got -3'],
    [z.string().max(2), 'abc', 'f: expected string to have <=2 characters'],
    [z.string().regex(/^x/, 'must begin with x'), 'abc', 'f: must begin with x'],
    [z.string('give me text'), 4, 'f: give me text, got 4'],
    [z.url(), 'nowhere', 'f: Invalid URL'],
    [z.array(z.string()), ['a', null], 'f[1]: expected string, got null'],
    [z.union([z.string(), z.number()]), true, 'f: expected string or number, got boolean'],
    [z.string().refine(() => false, 'is taken'), 'x', 'f: is taken'],
    [
      z.record(z.string().max(1), z.int()),
      { ab: 1 },
      'f.ab: is not an allowed key, expected string to have <=1 characters',
    ],
    [
      z.union([z.strictObject({ q: z.string() }), z.strictObject({ r: z.string() })]),
      { q: 4 },
      'f.q: expected string, got 4',
    ],
    [z.discriminatedUnion('t', [z.object({ t: z.literal('a') })]), { t: 'z' }, 'f.t: expected one of "a", got "z"'],
  ];
  for (const [schema, value, expected] of phrases) {
    test(`puts it as: ${expected}`, () => assert.equal(field(schema, value), expected));
  }

  test('never repeats a long value, an unlisted string or a long key', () => {
    const secret = 'hunter2-'.repeat(40);
    const outputs = [
      field(z.enum(['a']), secret),
      field(z.number(), 'hunter2-'),
      field(z.strictObject({}), { [secret]: 1 }),
      field(z.record(z.string().max(3), z.string()), { [secret]: '' }),
      field(z.string().max(3), secret),
    ];
    for (const output of outputs) assert.ok(!output.includes(secret.slice(0, 41)) && output.length < 200, output);
    assert.ok(!field(z.number(), 'hunter2-').includes('hunter2'));
  });
});
