import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createRedactor } from './redactor.ts';

const plain = createRedactor();
const letters = (count: number) => 'aB3dE6gH9jK2'.repeat(Math.ceil(count / 12)).slice(0, count);

/** Assembled here, so that no scanner takes this file for a leak. */
const TOKENS: Readonly<Record<string, string>> = {
  'GitHub token': `ghp_${letters(36)}`,
  'GitHub server token': `ghs_${letters(36)}`,
  'GitHub fine-grained token': `github_pat_${letters(22)}_${letters(59)}`,
  'GitLab token': `glpat-${letters(20)}`,
  'Slack token': `xoxb-${letters(12)}-${letters(24)}`,
  'npm token': `npm_${letters(36)}`,
  'AWS key id': `AKIA${'ABCDEFGH23456789'}`,
  'OpenAI key': `sk-proj-${letters(40)}`,
  'Anthropic key': `sk-ant-api03-${letters(60)}`,
  'Google key': `AIza${letters(35)}`,
  'Stripe key': `sk_live_${letters(24)}`,
  JWT: `eyJ${letters(20)}.eyJ${letters(30)}.${letters(43)}`,
};

describe('shapes [S0-13]', () => {
  for (const [name, token] of Object.entries(TOKENS)) {
    test(`takes out a ${name}, alone and inside other text [S0-13]`, () => {
      assert.equal(plain.redactText(token), '[redacted]');
      assert.equal(plain.redactText(`see ${token}, then`), 'see [redacted], then');
      assert.equal(plain.redactText(`{"x":"${token}"}`), '{"x":"[redacted]"}');
    });
  }

  const cases: readonly (readonly [string, string])[] = [
    ['Authorization: Bearer abc.def', 'Authorization: Bearer [redacted]'],
    ['"authorization": "Basic dXNlcjpwYXNz"', '"authorization": "Basic [redacted]"'],
    ['curl -H "X: bearer abcdefghijklmnop"', 'curl -H "X: bearer [redacted]"'],
    ['https://user:pa%20ss@example.org/x', 'https://user:[redacted]@example.org/x'],
    ['git clone https://:hunter2@host/repo', 'git clone https://:[redacted]@host/repo'],
    ['DB_PASSWORD=hunter2 node x', 'DB_PASSWORD=[redacted] node x'],
    ['?token=abc&page=2', '?token=[redacted]&page=2'],
    ['client_secret = "a b c", next', 'client_secret = [redacted], next'],
    ['{"password": "a\\"b", "user": "me"}', '{"password": [redacted], "user": "me"}'],
    ['"{\\"api_key\\":\\"abc\\",\\"n\\":1}"', '"{\\"api_key\\":[redacted],\\"n\\":1}"'],
    ['aws_secret_access_key = wJalrXUtnFEMI/K7MDENG', 'aws_secret_access_key = [redacted]'],
    ['password: hunter2', 'password: [redacted]'],
    ['a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- b', 'a [redacted] b'],
    ['x -----BEGIN PRIVATE KEY-----\nMIIE cut off', 'x [redacted]'],
  ];
  for (const [text, clean] of cases) {
    test(`${JSON.stringify(text)} loses its secret and nothing else [S0-13]`, () => {
      assert.equal(plain.redactText(text), clean);
      assert.equal(plain.redactText(clean), clean);
    });
  }

  test('the folders that shells name are not passwords; passwords of the same name are', () => {
    for (const text of [
      'PWD=/srv',
      'OLDPWD=/srv/a b',
      'HOME=/x\nPWD=/srv\nOLDPWD=/\n',
      'declare -x PWD="/srv"',
      '{"PWD":"/srv","OLDPWD": "/"}',
      'PWD=C:\\work',
    ]) {
      assert.equal(plain.redactText(text), text);
    }
    assert.equal(plain.redactText('Server=a;UID=sa;PWD=hunter2;'), 'Server=a;UID=sa;PWD=[redacted];');
    assert.equal(plain.redactText('MYSQL_PWD=/hunter2'), 'MYSQL_PWD=[redacted]');
    assert.deepEqual(plain.redactJson({ PWD: '/srv', OLDPWD: '/', db_pwd: 'x' }), {
      PWD: '/srv',
      OLDPWD: '/',
      db_pwd: '[redacted]',
    });
  });

  test('text without secrets stays as it is', () => {
    for (const text of [
      'Unexpected token: }',
      'task-management-for-everyone-and-more',
      'https://example.org:8080/path@v2',
      'ssh://git@github.com/a/b.git',
      'const tokens = 3; max_tokens: 100',
      'the secret of good soup',
      'SKIA eyJ. sk-short ghp_short npm_run',
      '-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----',
    ]) {
      assert.equal(plain.redactText(text), text);
    }
  });
});

describe('known values [S0-13]', () => {
  test('takes out the longest first, in plain, escaped and URL form [S0-13]', () => {
    const redactor = createRedactor({ secrets: ['pass"word', 'hunter22', 'hunter22-and-more', 'a b/cdef', 'abc'] });
    assert.equal(
      redactor.redactText('hunter22-and-more hunter22 {"x":"pass\\"word"} pass"word q=a%20b%2Fcdef abc'),
      '[redacted] [redacted] {"x":"[redacted]"} [redacted] q=[redacted] abc',
    );
  });

  test('a known value never survives, whatever stands around it [S0-13]', () => {
    const secret = fc.string({ minLength: 6, maxLength: 20 }).filter((text) => !'[redacted]'.includes(text));
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), (value, before, behind) => {
        const clean = createRedactor({ secrets: [value] }).redactText(before + value + behind);
        assert.ok(!clean.replaceAll('[redacted]', '').includes(value));
      }),
    );
  });
});

describe('values in JSON [S0-13]', () => {
  test('takes secrets out of texts, names and members with a telling name [S0-13]', () => {
    const redactor = createRedactor({ secrets: ['hunter22'] });
    assert.deepEqual(
      redactor.redactJson({
        list: ['x hunter22', 1, null],
        'key hunter22': true,
        password: 'a',
        apiKey: 5,
        nested: { accessToken: 'b', max_tokens: 7, hasSecret: true },
      }),
      {
        list: ['x [redacted]', 1, null],
        'key [redacted]': true,
        password: '[redacted]',
        apiKey: '[redacted]',
        nested: { accessToken: '[redacted]', max_tokens: 7, hasSecret: true },
      },
    );
  });

  test('gives back the same value when there is nothing to take out', () => {
    const value = { a: [1, { b: 'text' }], c: null };
    assert.equal(plain.redactJson(value), value);
  });
});

test('long texts made to mislead the patterns are finished in one pass', () => {
  const size = 200_000;
  for (const piece of [
    'eyJ',
    'eyJ-',
    'a://b:',
    '://',
    'token=',
    'sk-',
    '-----BEGIN PRIVATE KEY-----',
    'password: "',
    '\\"',
    'Bearer ',
    'gh',
    ' ',
  ]) {
    const text = piece.repeat(size / piece.length);
    assert.ok(plain.redactText(text).length <= text.length * 3);
  }
});

describe('a redactor that learns', () => {
  test('hides what it learned, and those made from it before do not', () => {
    const runtime = createRedactor({ secrets: ['known-to-all'] });
    const [one, other] = [runtime.fork(), runtime.fork()];
    one.learn({ known: ['learned-by-one'] });
    assert.equal(one.redactText('known-to-all learned-by-one'), '[redacted] [redacted]');
    assert.equal(other.redactText('known-to-all learned-by-one'), '[redacted] learned-by-one');
    assert.equal(one.fork().redactText('learned-by-one'), '[redacted]');
  });

  test('a suspected value is taken out of text about calls, and never known', () => {
    const redactor = createRedactor();
    redactor.learn({ suspected: ['undefined'] });
    assert.equal(redactor.redactText('is undefined'), 'is [redacted]');
    assert.equal(redactor.fork().redactText('is undefined'), 'is [redacted]');
    assert.equal(redactor.known.text('is undefined'), 'is undefined');
  });

  test('is bounded: the oldest are forgotten', () => {
    const redactor = createRedactor();
    for (let count = 0; count < 300; count++) redactor.learn({ known: [`secret-number-${count}-`] });
    assert.equal(redactor.redactText('secret-number-0-'), 'secret-number-0-');
    assert.equal(redactor.redactText('secret-number-299-'), '[redacted]');
  });
});
