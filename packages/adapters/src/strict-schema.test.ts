import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema';
import { openScratchRuntime } from '@tool-runtime/sdk/testing';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { toStrictJsonSchema } from 'openai/lib/transform';
import { objectSchemas, toStrictForm, valuesOf, withoutLimits } from '../test/schema-arbitraries.ts';
import { type JsonSchema, listTools } from './list-tools.ts';
import { restoreArgs } from './restore-args.ts';
import { STRICT_DIALECTS, STRICT_PROVIDERS, type StrictProvider } from './strict-dialects.ts';
import { strictSchema } from './strict-schema.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
async function toolSchemas(): Promise<readonly (readonly [string, JsonSchema])[]> {
  const registry = { file: 'rules.yaml', text: 'side_effect_level: network\n' };
  const { session, dispose } = await openScratchRuntime({ registry });
  const schemas = listTools(session).map((tool) => [tool.name, tool.inputSchema] as const);
  await dispose();
  return schemas;
}

const TOOLS = await toolSchemas();

/** The provider's own converter has nothing left to do. */
function assertFixedPoint(schema: JsonSchema, provider: StrictProvider): void {
  if (provider === 'openai') assert.deepEqual(toStrictJsonSchema(schema), schema);
  if (provider === 'anthropic') assert.deepEqual(transformJSONSchema(schema), schema);
}

/** Everything that can be said with the full schema can be said with the strict one, and comes back as it was. */
function assertNothingLost(full: JsonSchema, strict: JsonSchema, provider: StrictProvider): void {
  const accepts = (part: JsonSchema, value: unknown) => ajv.validate({ ...part, $defs: full['$defs'] ?? {} }, value);
  const way = { root: full, dialect: STRICT_DIALECTS[provider], accepts };
  const [isFull, isStrict] = [ajv.compile(full), ajv.compile(strict)];
  const check = (args: unknown) => {
    fc.pre(isFull(args));
    const written = toStrictForm(full, args, way);
    assert.ok(isStrict(written), JSON.stringify([isStrict.errors, written]));
    assert.deepEqual(restoreArgs(full, provider, written), args);
  };
  fc.assert(fc.property(valuesOf(full, full), check), { numRuns: 25, maxSkipsPerRun: 1000 });
}

/** Whatever the strict schema lets a model write is, restored, within the full one but for limits on values. */
function assertNothingAdded(full: JsonSchema, strict: JsonSchema, provider: StrictProvider): void {
  const [isWithin, isStrict] = [ajv.compile(withoutLimits(full)), ajv.compile(strict)];
  const check = (written: unknown) => {
    fc.pre(isStrict(written) && !hasDoubledNames(written));
    const restored = restoreArgs(full, provider, written);
    assert.ok(isWithin(restored), JSON.stringify([isWithin.errors, written, restored]));
  };
  fc.assert(fc.property(valuesOf(strict, strict), check), { numRuns: 25, maxSkipsPerRun: 1000 });
}

function hasDoubledNames(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const names = Array.isArray(value)
    ? value.flatMap((entry) => (typeof entry?.name === 'string' ? [entry.name] : []))
    : [];
  return new Set(names).size < names.length || Object.values(value).some(hasDoubledNames);
}

for (const provider of STRICT_PROVIDERS) {
  describe(`strict schemas for ${provider}`, () => {
    test('every tool is converted without loss, or refused with a reason', () => {
      let converted = 0;
      for (const [name, full] of TOOLS) {
        const strict = strictSchema(full, provider);
        if (!strict.ok) {
          assert.ok(strict.reasons.length > 0, name);
          continue;
        }
        converted++;
        assert.ok(!JSON.stringify(strict.schema).includes('$schema'));
        assertFixedPoint(strict.schema, provider);
        assertNothingLost(full, strict.schema, provider);
        assertNothingAdded(full, strict.schema, provider);
      }
      assert.ok(converted > TOOLS.length * 0.8);
    });

    test('any schema is converted without loss, or refused with a reason (deep)', () => {
      const check = (full: JsonSchema) => {
        const strict = strictSchema(full, provider);
        if (!strict.ok) return assert.ok(strict.reasons.length > 0);
        assertFixedPoint(strict.schema, provider);
        assertNothingLost(full, strict.schema, provider);
        return assertNothingAdded(full, strict.schema, provider);
      };
      fc.assert(fc.property(objectSchemas, check), { numRuns: 60 });
    });
  });
}

test('the tools that cannot be strict are these, for these reasons', () => {
  const refused = (provider: StrictProvider) =>
    TOOLS.flatMap(([name, full]) => {
      const strict = strictSchema(full, provider);
      return strict.ok ? [] : [`${name}: ${strict.reasons.map((reason) => reason.path).join(' ')}`];
    });
  assert.deepEqual(refused('openai'), [
    'file_write: /properties/attribution/additionalProperties /properties/expected_sha256',
    'git_blame: /properties/ref',
    'git_branch: /properties/upstream',
  ]);
  assert.deepEqual(refused('anthropic'), ['file_write: /properties/attribution/additionalProperties']);
  assert.deepEqual(refused('gemini'), []);
});

test('an optional argument becomes nullable and an open map a list, with words for both', () => {
  const strict = strictSchema(
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        cmd: { type: 'string', minLength: 1, description: 'Command' },
        env: { type: 'object', additionalProperties: { type: 'string' }, default: {}, description: 'Variables' },
      },
      required: ['cmd'],
      additionalProperties: false,
    },
    'openai',
  );
  const entry = {
    type: 'object',
    properties: { name: { type: 'string' }, value: { type: 'string' } },
    required: ['name', 'value'],
    additionalProperties: false,
  };
  assert.deepEqual(strict, {
    ok: true,
    schema: {
      type: 'object',
      properties: {
        cmd: { type: 'string', description: 'Command (minLength 1)' },
        env: {
          anyOf: [{ type: 'array', items: entry }, { type: 'null' }],
          description: 'Variables (as a list of names and values, every name once, default {}); null: left out',
        },
      },
      required: ['cmd', 'env'],
      additionalProperties: false,
    },
  });
});

test('what would lose meaning is refused for every provider that cannot say it', () => {
  const object = { type: 'object', properties: { a: { type: 'string' } } };
  const mapOrObject = {
    anyOf: [
      { type: 'array', items: { type: 'string' } },
      { type: 'object', additionalProperties: { type: 'string' } },
    ],
  };
  const cases: readonly (readonly [JsonSchema | true, RegExp, string])[] = [
    [true, /any value/, 'oag'],
    [{ description: 'whatever' }, /any value/, 'oag'],
    [{ type: 'array' }, /any value/, 'oag'],
    [{ allOf: [{ type: 'string' }] }, /allOf has no form/, 'oag'],
    [{ type: 'string', not: { const: '' } }, /not has no form/, 'oag'],
    [{ type: 'array', items: { type: 'string' }, prefixItems: [] }, /prefixItems has no form/, 'oag'],
    [{ type: 'object', patternProperties: {}, additionalProperties: false }, /patternProperties/, 'oag'],
    [{ type: 'string', madeUp: 1 }, /madeUp has no form/, 'oag'],
    [{ $ref: 'https://example.org/schema' }, /reference/, 'oag'],
    [{ ...object, additionalProperties: true }, /declared and free names/, 'oag'],
    [{ type: 'object' }, /open and declares no names/, 'oag'],
    [{ type: 'object', additionalProperties: true }, /any value/, 'oa'],
    [mapOrObject, /could not be distinguished/, 'oa'],
    [{ anyOf: [object, { ...object, required: ['a'] }] }, /could not be distinguished/, 'o'],
    [{ type: 'string', anyOf: [{ minLength: 1 }] }, /type beside anyOf/, 'oag'],
    [{ enum: [['a']] }, /only plain values/, 'oag'],
  ];
  for (const [part, reason, letters] of cases) {
    for (const provider of STRICT_PROVIDERS) {
      const root: JsonSchema = { type: 'object', properties: { x: part }, required: ['x'] };
      const strict = strictSchema(root, provider);
      const isExpected = letters.includes(provider.charAt(0));
      assert.equal(strict.ok, !isExpected, `${provider} ${JSON.stringify(part)}`);
      if (!strict.ok)
        assert.ok(
          strict.reasons.some((found) => reason.test(found.reason)),
          JSON.stringify(strict.reasons),
        );
    }
  }
});

test('depth and free argument names have their limits', () => {
  const deep = (levels: number): JsonSchema =>
    levels === 0 ? { type: 'string' } : { type: 'object', properties: { in: deep(levels - 1) }, required: ['in'] };
  assert.equal(strictSchema(deep(10), 'openai').ok, true);
  assert.equal(strictSchema(deep(11), 'openai').ok, false);
  const free = { type: 'object', additionalProperties: { type: 'string' } };
  assert.deepEqual([strictSchema(free, 'openai').ok, strictSchema(free, 'gemini').ok], [false, true]);
  assert.equal(strictSchema({ type: 'object' }, 'openai').ok, true);
});
