import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { PRESET_GATES } from './preset-rules.ts';
import { genericAssignmentAt, looksRandom, NAME_ANCHORS, privateKeyAt, SHAPE_DETECTORS } from './shape-detectors.ts';

/** The source without escapes and classes, where a star, a plus or an open count would be a quantifier. */
function skeletonOf(pattern: RegExp): string {
  return pattern.source.replace(/\\[^k]/g, 'e').replace(/\[(?:[^\]])*\]/g, 'c');
}

const UNBOUNDED = /[*+]|\{\d+,\}/;

test('every pattern tried at an anchor has a longest match, so a try has a highest price [S0-67]', () => {
  const patterns = [...SHAPE_DETECTORS, ...Object.values(PRESET_GATES).map(({ confirms }) => ({ pattern: confirms }))];
  assert.ok(patterns.length > 30);
  for (const { pattern } of patterns) {
    assert.ok(pattern.sticky, pattern.source);
    assert.doesNotMatch(skeletonOf(pattern), UNBOUNDED);
  }
});

test('the check above sees an open quantifier [S0-67]', () => {
  for (const pattern of [/a*/, /[+*]b+/, /(?:c\{){2,}/]) assert.match(skeletonOf(pattern), UNBOUNDED);
  for (const pattern of [/[+*]\+\*/, /a{2,3}/]) assert.doesNotMatch(skeletonOf(pattern), UNBOUNDED);
});

test('a text full of key headers is read once: no two key blocks share a character [S0-67]', () => {
  const header = ['-----BEGIN', 'PRIVATE KEY-----'].join(' ');
  const text = `${header}${'A1'.repeat(20)}`.repeat(500);
  let end = 0;
  for (let at = text.indexOf(header); at !== -1; at = text.indexOf(header, at + 1)) {
    const match = privateKeyAt(text, at);
    assert.ok(match !== undefined && match.start >= end);
    end = match.end;
  }
});

const VALUE = ['a8Kd02', 'nsLq9Z', 'pT4wVx7'].join('');

function valuesIn(text: string): readonly string[] {
  const words = new RegExp(NAME_ANCHORS.join('|'), 'gi');
  const matches = Array.from(text.matchAll(words), ({ index }) => genericAssignmentAt(text, index));
  const found = matches.filter((match) => match !== undefined);
  for (const match of found) assert.equal(text.slice(match.start, match.end), match.value);
  return [...new Set(found.map((match) => match.value))];
}

describe('a value under the name of a secret', () => {
  const notations: readonly string[] = [
    'password = "?"',
    "token: '?'",
    '"api_key": "?"',
    'API_KEY=?',
    'secretKey=?\r',
    '\\"secret\\": \\"?\\"',
    "const apiKey: string = '?';",
    'let token: &str = "?";',
    'token := "?"',
    '<password>?</password>',
    'setPassword("?")',
    'put("api.key", "?")',
    'https://host/?access_token=?&x=1',
    '--password=?',
    'password:\n  ?',
    "x['token'] = '?'",
    'AccountKey=?==;',
    "password => '?'",
    "export CLIENT_SECRET='?'",
    'SIGNING_KEY ?= ?',
    "apiKey || '?'",
  ];
  for (const notation of notations) {
    test(`is found in ${JSON.stringify(notation)} [S0-67]`, () => {
      const at = notation.lastIndexOf('?');
      const text = notation.slice(0, at) + VALUE + notation.slice(at + 1);
      assert.equal(valuesIn(text)[0]?.replace(/=+$/, ''), VALUE);
    });
  }

  const harmless: readonly string[] = [
    'password = "changeme-2024-Ab1"',
    'token = "xxxxXXXX11112222xxxx"',
    "token: '<your-token-1A2b3C4d>'",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: what a shell or a template would replace
    "secret: '${SECRET_V2_abc1D2}'",
    'token = process.env.TOKEN_1A2b3C',
    'API_KEY=$API_KEY_1a2B3c4D5e',
    'api_key = "example1A2b3C4d5E"',
    'token = parseTokenFromHeader2',
    "token: 'session-token-name-v1'",
    'tokenUrl = "https://host/a1B2c3D4e5F6g7"',
    `passwordHash = "${VALUE}"`,
    `token = ${VALUE}(1)`,
    `token = ${VALUE}.value`,
    `key = "${VALUE}"`,
    `monkey = "${VALUE}"`,
    'password = "short1A"',
    'the secret of this token is nothing: it has no value 1A2b3C4d5E',
  ];
  for (const text of harmless) {
    test(`is not seen in ${JSON.stringify(text)} [S0-67]`, () => assert.deepEqual(valuesIn(text), []));
  }

  test('is found whatever a machine draws of twenty-four letters and digits, nearly always [S0-67]', () => {
    const drawn = fc.string({
      minLength: 24,
      maxLength: 24,
      unit: fc.constantFrom(...'abcdefghijkmnpqrstuvwyzABCDEFGHJKLMNPQRSTUVWYZ23456789'),
    });
    const samples = fc.sample(drawn, 500);
    const found = samples.filter((value) => valuesIn(`token = "${value}"`).includes(value));
    assert.ok(found.length > 450, `${found.length} of 500`);
  });

  test('is not seen in words, however they are joined [S0-67]', () => {
    const words = ['session', 'Token', 'value', 'Request', 'handler', 'names', 'Index', 'Window', 'user'];
    const joined = fc
      .tuple(
        fc.array(fc.constantFrom(...words), { minLength: 2, maxLength: 8 }),
        fc.constantFrom('', '-', '_', '.', '/'),
      )
      .map(([parts, joint]) => [...parts, 'v2'].join(joint));
    fc.assert(fc.property(joined, (text) => assert.equal(looksRandom(text), false)));
  });
});
