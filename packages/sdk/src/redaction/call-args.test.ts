import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { completeAnnotations } from '../contracts/annotations.ts';
import { secretsIn, shownArgs } from './call-args.ts';
import { isSecretHeader, isSecretName, isSecretVariable } from './redact-words.ts';
import { createRedactor } from './redactor.ts';

const { arg_schema: places } = completeAnnotations({
  arg_schema: { env_params: ['env'], header_params: ['headers'], command_params: ['cmd', 'argv'], url_params: ['url'] },
});
const SECRET = 'canary-of-this-place';
const NONE = { known: [], suspected: [] };

describe('secrets that arguments bring along', () => {
  const cases: readonly [string, object, object, 'guess'?][] = [
    ['a variable', { env: { API_TOKEN: SECRET, LANG: 'C' } }, { env: { API_TOKEN: '[redacted]', LANG: 'C' } }],
    ['a URL in a variable', { env: { DB: `pg://a:${SECRET}@h` } }, { env: { DB: 'pg://a:[redacted]@h' } }],
    ['a header', { headers: { 'X-Api-Key': SECRET, A: 'b' } }, { headers: { 'X-Api-Key': '[redacted]', A: 'b' } }],
    ['a cookie', { headers: { Cookie: `a=1; b=${SECRET}` } }, { headers: { Cookie: '[redacted]' } }],
    [
      'a token in a header',
      { headers: { Authorization: `Bearer ${SECRET}` } },
      { headers: { Authorization: '[redacted]' } },
    ],
    [
      'a password in a header',
      { headers: { Authorization: `Basic ${Buffer.from(`me:${SECRET}`).toString('base64')}` } },
      { headers: { Authorization: '[redacted]' } },
    ],
    ['an option of a line', { cmd: `tool --token ${SECRET} x` }, { cmd: 'tool --token [redacted] x' }, 'guess'],
    ['an option of words', { argv: ['tool', '--token', SECRET] }, { argv: ['tool', '--token', '[redacted]'] }, 'guess'],
    ['a URL', { url: `https://h/?access_token=${SECRET}` }, { url: 'https://h/?access_token=[redacted]' }, 'guess'],
    ['a password in a URL', { url: `https://a:${SECRET}@h/` }, { url: 'https://a:[redacted]@h/' }],
    ['words nobody declared', { args: ['--password', SECRET] }, { args: ['--password', '[redacted]'] }, 'guess'],
    [
      'a member nobody declared',
      { inputs: { deep: { apiKey: SECRET } } },
      { inputs: { deep: { apiKey: '[redacted]' } } },
      'guess',
    ],
  ];
  for (const [what, args, shown, guess] of cases) {
    const isKnown = guess === undefined;
    test(`${what} is ${isKnown ? 'known' : 'suspected'} and covered`, () => {
      const { known, suspected } = secretsIn(args, places);
      assert.deepEqual([known.includes(SECRET), suspected.includes(SECRET)], [isKnown, !isKnown], what);
      assert.deepEqual(shownArgs(args as never, places, createRedactor()), shown);
    });
  }

  test('percent-encoded ones are learned as they are meant, too', () => {
    assert.deepEqual(secretsIn({ url: 'https://a:p%40ss-word@h/' }, places).known, ['p%40ss-word', 'p@ss-word']);
  });

  test('arguments of any other shape bring none, and ordinary ones stay as they are', () => {
    for (const args of [
      null,
      1,
      'x',
      [],
      { env: 5, headers: [], cmd: {}, argv: 'x', url: null },
      { env: { A_TOKEN: 7 } },
    ]) {
      assert.deepEqual(secretsIn(args, places), NONE);
    }
    const plain = {
      cmd: 'git log --oneline',
      env: { GIT_AUTHOR_NAME: 'Jane Doe', AUTH_MODE: 'production', TOKEN_FILE: '/run/token', PWD: '/srv' },
      headers: { Accept: 'text/plain', 'Idempotency-Key': 'abcdefgh' },
      page_token: 'where-it-goes-on',
      lines: ['a', 'b'],
    };
    assert.deepEqual(secretsIn(plain, places), NONE);
    assert.deepEqual(shownArgs(plain, places, createRedactor()), plain);
  });

  test('words and figures of ordinary text are suspected at most, wherever they are given', () => {
    const env = { PGPASSWORD: 'postgres', SECRET_KEY: 'development', DB_PASSWORD: '123456', API_TOKEN: 'Zürich' };
    assert.deepEqual(secretsIn({ env }, places), { known: [], suspected: Object.values(env) });
  });

  test('what is short is covered where it stands, and looked for nowhere else', () => {
    const args = { env: { API_TOKEN: 'abc' }, cmd: 'curl -u a:b x' };
    assert.deepEqual(secretsIn(args, places), NONE);
    assert.deepEqual(shownArgs(args, places, createRedactor()), {
      env: { API_TOKEN: '[redacted]' },
      cmd: 'curl -u a:[redacted] x',
    });
  });
});

describe('names that announce a secret', () => {
  test('variables', () => {
    for (const name of [
      ...['GITHUB_TOKEN', 'PGPASSWORD', 'MYSQL_PWD', 'SECRET_KEY_BASE', 'AWS_SECRET_ACCESS_KEY', 'npm_config__auth'],
      ...['SSHPASS', 'API_KEY', 'APIKEY', 'STRIPE_KEY', 'DB_PASS', 'GH_PAT', 'githubToken', 'PRIVATE_KEY', 'MY_AUTH'],
    ]) {
      assert.ok(isSecretVariable(name), name);
    }
    for (const name of [
      ...['PWD', 'OLDPWD', 'GIT_AUTHOR_NAME', 'AUTHOR', 'TOKEN_FILE', 'SSH_AUTH_SOCK', 'PATH', 'KEYBOARD', 'COMPASS'],
      ...['SECRET_NAME', 'AUTH_TYPE', 'LANG', 'TOKENIZER', 'PASSENGER'],
    ]) {
      assert.ok(!isSecretVariable(name), name);
    }
  });

  test('options, members and headers', () => {
    for (const name of ['--token', 'access_token', 'clientSecret', '--api-key', 'passwd'])
      assert.ok(isSecretName(name));
    for (const name of ['--tokens', 'max_tokens', 'key', '--author', 'pwd', 'token-type'])
      assert.ok(!isSecretName(name));
    for (const name of ['authorization', 'Proxy-Authorization', 'X-Auth-Key', 'Set-Cookie', 'PRIVATE-TOKEN']) {
      assert.ok(isSecretHeader(name));
    }
    for (const name of ['Accept', 'Idempotency-Key', 'Sec-WebSocket-Key', 'Author']) assert.ok(!isSecretHeader(name));
  });
});
