import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createScratch, jsonLines, runCli } from '../../../test/run-cli.ts';
import { readTokenFile } from '../../auth/token-file.ts';
import { createTokenBook } from '../../auth/tokens.ts';

const TOKEN_LINE = /^trt_[A-Za-z0-9_-]{43}\n$/;

describe('tool-runtime token', () => {
  test('adds a token that the host then knows, shows it once and keeps only its digest', async () => {
    using scratch = createScratch();
    const path = join(scratch.state, 'host.token');
    const { code, stdout, stderr } = await runCli(['token', 'add', '--name', 'ci', ...scratch.options]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, TOKEN_LINE);
    assert.match(stderr, /^added ci \(read,call\) to /);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const token = stdout.trim();
    assert.ok(!readFileSync(path, 'utf8').includes(token));
    const book = createTokenBook({ path, now: Date.now });
    assert.deepEqual(book.find(token), { id: 'token:ci', name: 'ci', scopes: new Set(['read', 'call']) });
    assert.equal(book.find(readTokenFile(path).mainToken ?? '')?.name, 'main');
  });

  test('lists names, scopes and expiry, and no token (deep)', async () => {
    using scratch = createScratch();
    const empty = await runCli(['token', 'list', ...scratch.options]);
    assert.deepEqual(
      [empty.code, empty.stdout, existsSync(scratch.state)],
      [0, 'no tokens yet; the first host makes one\n', false],
    );

    const add = ['token', 'add', '--json', '--scopes', 'approve', '--expires', '2999-01-31T12:00:00Z', '--name', 'ui'];
    const [added] = jsonLines((await runCli([...add, ...scratch.options])).stdout);
    const { token, ...shown } = added ?? {};
    assert.deepEqual(shown, { name: 'ui', scopes: ['approve'], expires_at: '2999-01-31T12:00:00.000Z' });

    const text = await runCli(['token', 'list', ...scratch.options]);
    assert.equal(
      text.stdout,
      'main  read,call,approve,audit,admin  does not expire\nui  approve  expires 2999-01-31T12:00:00.000Z\n',
    );
    const json = await runCli(['token', 'list', '--json', ...scratch.options]);
    assert.deepEqual(jsonLines(json.stdout), [
      { name: 'main', scopes: ['read', 'call', 'approve', 'audit', 'admin'], is_expired: false },
      { ...shown, is_expired: false },
    ]);
    const { mainToken = '' } = readTokenFile(join(scratch.state, 'host.token'));
    for (const { stdout, stderr } of [text, json]) {
      for (const secret of [mainToken, String(token)]) assert.ok(!(stdout + stderr).includes(secret));
    }
  });

  test('counts --expires from now', async () => {
    using scratch = createScratch();
    const before = Date.now();
    const { stdout } = await runCli(['token', 'add', '--json', '--expires', '2h', ...scratch.options]);
    const [added] = jsonLines(stdout);
    const inTwoHours = Date.parse(String(added?.['expires_at'])) - 2 * 3_600_000;
    assert.ok(inTwoHours >= before && inTwoHours <= Date.now());
    assert.match(String(added?.['name']), /^token-[0-9a-f]{12}$/);
  });

  test('revokes by name, leaves the rest alone, and says when there is none (deep)', async () => {
    using scratch = createScratch();
    const path = join(scratch.state, 'host.token');
    await runCli(['token', 'add', '--name', 'one', ...scratch.options]);
    const before = readFileSync(path, 'utf8');
    const { stdout } = await runCli(['token', 'add', '--name', 'two', ...scratch.options]);
    const revoked = await runCli(['token', 'revoke', 'two', ...scratch.options]);
    assert.deepEqual([revoked.code, revoked.stdout], [0, 'revoked two\n']);
    assert.equal(readFileSync(path, 'utf8'), before);
    assert.equal(createTokenBook({ path, now: Date.now }).find(stdout.trim()), undefined);

    const again = await runCli(['token', 'revoke', 'two', '--json', ...scratch.options]);
    assert.deepEqual([again.code, again.stdout], [1, '{"revoked":false}\n']);
    const main = await runCli(['token', 'revoke', 'main', ...scratch.options]);
    assert.equal(main.code, 0);
    const { entries, mainToken } = readTokenFile(path);
    assert.deepEqual([entries.map(({ name }) => name), mainToken], [['one'], undefined]);
  });

  test('takes another file by --token-file (deep)', async () => {
    using scratch = createScratch();
    const path = join(scratch.root, 'other.token');
    const { code } = await runCli(['token', 'add', '--token-file', path, ...scratch.options]);
    assert.deepEqual([code, readTokenFile(path).entries.length, existsSync(scratch.state)], [0, 2, false]);
  });

  test('loses none of the tokens that are added at once (deep)', async () => {
    using scratch = createScratch();
    const names = ['a', 'b', 'c', 'd', 'e'];
    const runs = await Promise.all(names.map((name) => runCli(['token', 'add', '--name', name, ...scratch.options])));
    assert.deepEqual(new Set(runs.map(({ code }) => code)), new Set([0]));
    const { entries } = readTokenFile(join(scratch.state, 'host.token'));
    assert.deepEqual(entries.map(({ name }) => name).sort(), [...names, 'main']);
    assert.deepEqual(readdirSync(scratch.state).sort(), ['host.token', 'host.token.lock']);
  });

  test('ends with 2 for bad usage and for a file it must not use, changing nothing (deep)', async () => {
    using scratch = createScratch();
    const path = join(scratch.state, 'host.token');
    await runCli(['token', 'add', '--name', 'ci', ...scratch.options]);
    const before = readFileSync(path, 'utf8');
    for (const [args, problem] of [
      [['add', '--scopes', 'read,write'], /--scopes takes read, call, approve, audit, admin/],
      [['add', '--expires', 'soon'], /--expires takes a time to come/],
      [['add', '--expires', '0s'], /--expires takes a time to come/],
      [['add', '--expires', '2001-01-01T00:00:00Z'], /--expires takes a time to come/],
      [['add', '--name', 'a b'], /--name takes letters/],
      [['add', '--name', 'ci'], /Same name as line/],
      [['revoke'], /missing required argument/],
    ] as const) {
      const { code, stdout, stderr } = await runCli(['token', ...args, ...scratch.options]);
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.match(stderr, problem);
    }
    assert.equal(readFileSync(path, 'utf8'), before);
    chmodSync(path, 0o640);
    const { code, stderr } = await runCli(['token', 'list', ...scratch.options]);
    assert.equal(code, 2);
    assert.match(stderr, /File is open to other users.*\n {2}next: chmod 600/);
  });
});
