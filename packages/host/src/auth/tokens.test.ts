import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { SCOPES, type ToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { createToken, digestToken } from './token-digest.ts';
import { createTokenBook } from './tokens.ts';

const MAIN = createToken();
const OTHER = createToken();

function scratch() {
  const folder = mkdtempSync(join(tmpdir(), 'tool-runtime-tokens-'));
  const path = join(folder, 'host.token');
  const reported: ToolError[] = [];
  const clock = { time: 1_000_000 };
  const write = (text: string) => {
    writeFileSync(`${path}.new`, text, { mode: 0o600 });
    renameSync(`${path}.new`, path);
    clock.time += 1001;
  };
  const open = () => createTokenBook({ path, now: () => clock.time, onBadFile: (error) => void reported.push(error) });
  return {
    path,
    reported,
    clock,
    write,
    open,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

describe('createTokenBook', () => {
  test('finds the principal of a plain and of a hashed token, and none for anything else', () => {
    const book = createTokenBook({ lines: [MAIN, `sha256:${digestToken(OTHER)} scopes=read name=ci`], now: () => 0 });
    assert.deepEqual(book.find(MAIN), { id: 'token:main', name: 'main', scopes: new Set(SCOPES) });
    assert.deepEqual(book.find(OTHER), { id: 'token:ci', name: 'ci', scopes: new Set(['read']) });
    for (const wrong of ['', MAIN.slice(0, -1), `${MAIN}x`, MAIN.toUpperCase(), ` ${MAIN}`, digestToken(MAIN)]) {
      assert.equal(book.find(wrong), undefined);
    }
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => book.find(text) === undefined));
  });

  test('takes tokens up to 512 bytes', () => {
    const longest = 'x'.repeat(512);
    const tooWide = `sha256:${digestToken('é'.repeat(300))} scopes=read`;
    const book = createTokenBook({ lines: [longest, tooWide], now: () => 0 });
    assert.equal(book.find(longest)?.name, 'main');
    assert.equal(book.find('é'.repeat(300)), undefined);
    assert.equal(book.find('y'.repeat(1_000_000)), undefined);
  });

  test('lets a token expire at its time', () => {
    const clock = { time: 0 };
    const book = createTokenBook({ lines: [`${MAIN} expires=1970-01-01T00:00:10Z`], now: () => clock.time });
    clock.time = 9_999;
    const principal = book.find(MAIN);
    assert.ok(principal !== undefined && book.isCurrent(principal));
    clock.time = 10_000;
    assert.equal(book.find(MAIN), undefined);
    assert.equal(book.isCurrent(principal), false);
  });

  test('follows the file: a token is known after it was added, unknown after it was removed', () => {
    using place = scratch();
    place.write(MAIN);
    const book = place.open();
    const main = book.find(MAIN);
    assert.ok(main !== undefined);
    assert.equal(book.find(OTHER), undefined);

    place.write(`${MAIN}\n${OTHER} scopes=read name=ci`);
    const other = book.find(OTHER);
    assert.ok(other !== undefined && book.isCurrent(other) && book.isCurrent(main));

    place.write(`${MAIN}\n${OTHER} scopes=call name=ci`);
    assert.equal(book.isCurrent(other), false, 'other scopes are another principal');
    assert.deepEqual(book.find(OTHER)?.scopes, new Set(['call']));

    place.write(`${MAIN}\n`);
    assert.equal(book.find(OTHER), undefined);
    assert.ok(book.isCurrent(main));
    assert.deepEqual(place.reported, []);
  });

  test('looks at the file at most once a second', () => {
    using place = scratch();
    place.write(MAIN);
    const book = place.open();
    place.write(OTHER);
    place.clock.time -= 1001;
    assert.equal(book.find(MAIN)?.name, 'main');
    place.clock.time += 1000;
    assert.equal(book.find(MAIN), undefined);
    assert.equal(book.find(OTHER)?.name, 'main');
  });

  test('keeps the last good content of a file that became bad, and reports each bad content once', () => {
    using place = scratch();
    place.write(MAIN);
    const book = place.open();
    const stillGood = (reason: string) => {
      for (let second = 0; second < 3; second += 1) {
        place.clock.time += 1001;
        assert.equal(book.find(MAIN)?.name, 'main');
      }
      assert.deepEqual(
        place.reported.splice(0).map(({ details }) => details['reason']),
        [reason],
      );
    };
    place.write('nonsense');
    stillGood('bad_token_file');
    place.write(OTHER);
    chmodSync(place.path, 0o644);
    stillGood('file_not_private');
    rmSync(place.path);
    stillGood('ENOENT');
    place.write(OTHER);
    assert.equal(book.find(MAIN), undefined);
    assert.equal(book.find(OTHER)?.name, 'main');
    assert.deepEqual(place.reported, []);
  });

  test('does not start with a bad file', () => {
    using place = scratch();
    place.write('nonsense');
    assert.throws(place.open, { code: 'E_VALIDATION_FAIL' });
    place.write(MAIN);
    assert.equal(place.open().find(MAIN)?.name, 'main');
  });

  test('issues tokens that reach one session until it is revoked or they expire', () => {
    const clock = { time: 0 };
    const book = createTokenBook({ lines: [MAIN], now: () => clock.time });
    const grant = { sessionId: 's1', ownerId: 'token:main', name: 'main', scopes: ['read', 'call'] as const };
    const [first, second, brief] = [book.issue(grant), book.issue(grant), book.issue({ ...grant, expiresAt: 5 })];
    const elsewhere = book.issue({ ...grant, sessionId: 's2' });
    assert.match(first, /^trt_[A-Za-z0-9_-]{43}$/);
    assert.notEqual(first, second);
    const principal = book.find(first);
    assert.deepEqual(principal, {
      id: 'token:main',
      name: 'main',
      scopes: new Set(['read', 'call']),
      sessionId: 's1',
    });
    assert.equal(book.find(brief)?.sessionId, 's1');
    clock.time = 5;
    assert.equal(book.find(brief), undefined);
    assert.ok(principal !== undefined && book.isCurrent(principal));

    book.revokeSession('s1');
    book.revokeSession('never-opened');
    assert.equal(book.find(first) ?? book.find(second), undefined);
    assert.equal(book.isCurrent(principal), false);
    assert.equal(book.find(elsewhere)?.sessionId, 's2');
    assert.equal(book.find(MAIN)?.name, 'main');
  });
});
