import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SCOPES, type Scope } from '@tool-runtime/protocol';
import { CODE_LIFE_MS, createConsoleAccess, readHalves, SESSION_LIFE_MS } from './console-access.ts';

const operator = { id: 'operator', name: 'operator', scopes: new Set(SCOPES) };
const always = (): boolean => true;
const reasonOf = (reason: string) => (error: { details?: Record<string, unknown> }) =>
  error.details?.['reason'] === reason;

function open() {
  const time = { now: 1000 };
  return { time, access: createConsoleAccess({ now: () => time.now }) };
}

describe('createConsoleAccess', () => {
  test('a code becomes a session once', () => {
    const { access } = open();
    const { code } = access.mint('approver', operator, always);
    const { cookie, key, principal, role } = access.exchange(code);
    assert.equal(role, 'approver');
    assert.equal(access.find({ cookie, key }), principal);
    assert.throws(() => access.exchange(code), reasonOf('code_invalid'));
    assert.throws(() => access.exchange('never-made'), reasonOf('code_invalid'));
  });

  test('a code expires', () => {
    const { access, time } = open();
    const [early, late] = [access.mint('viewer', operator, always).code, access.mint('viewer', operator, always).code];
    time.now += CODE_LIFE_MS - 1;
    access.exchange(early);
    time.now += 1;
    assert.throws(() => access.exchange(late), reasonOf('code_invalid'));
  });

  test('a session needs both of its halves, and ends', () => {
    const { access, time } = open();
    const [one, other] = [0, 0].map(() => access.exchange(access.mint('viewer', operator, always).code));
    assert.equal(access.find({ cookie: one!.cookie, key: other!.key }), undefined);
    assert.equal(access.find({ cookie: one!.key, key: one!.key }), undefined);
    assert.ok(access.find(one!));
    access.end(one!.principal);
    assert.equal(access.find(one!), undefined);
    assert.equal(access.sessionOf(one!.principal), undefined);
    time.now += SESSION_LIFE_MS;
    assert.equal(access.find(other!), undefined);
    assert.equal(access.sessionOf(other!.principal), undefined);
  });

  test('codes and sessions end with the one who gave the link', () => {
    const { access } = open();
    const giver = { isWelcome: true };
    const mint = () => access.mint('viewer', operator, () => giver.isWelcome).code;
    const [unused, session, other] = [
      mint(),
      access.exchange(mint()),
      access.exchange(access.mint('viewer', operator, always).code),
    ];
    assert.ok(access.find(session));
    giver.isWelcome = false;
    assert.equal(access.find(session), undefined);
    assert.equal(access.sessionOf(session.principal), undefined);
    assert.throws(() => access.exchange(unused), reasonOf('code_invalid'));
    assert.ok(access.find(other));
  });

  test('a role has no more than the one who gives it', () => {
    const { access } = open();
    const having = (...scopes: Scope[]) => ({ ...operator, scopes: new Set(scopes) });
    assert.throws(() => access.mint('viewer', having('admin', 'read'), always), reasonOf('scope_missing'));
    assert.throws(
      () => access.mint('approver', having('admin', 'read', 'audit', 'call'), always),
      reasonOf('scope_missing'),
    );
    const viewer = access.exchange(access.mint('viewer', having('read', 'audit'), always).code);
    assert.deepEqual([...viewer.principal.scopes], ['read', 'audit']);
    const approver = access.exchange(access.mint('approver', having('read', 'audit', 'approve', 'call'), always).code);
    assert.deepEqual([...approver.principal.scopes], ['read', 'audit', 'approve', 'call']);
  });

  test('codes and sessions are bounded; the oldest go first', () => {
    const { access } = open();
    const codes = Array.from({ length: 65 }, () => access.mint('viewer', operator, always).code);
    assert.throws(() => access.exchange(codes[0]!), reasonOf('code_invalid'));
    const first = access.exchange(codes[64]!);
    for (let at = 0; at < 256; at += 1) access.exchange(access.mint('viewer', operator, always).code);
    assert.equal(access.find(first), undefined);
  });
});

describe('readHalves', () => {
  test('reads the cookie of its own port with the key of the page', () => {
    const halves = readHalves(['Cookie', 'a=b; tool_runtime_console_7=c', 'X-Console-Key', 'k'], 7);
    assert.deepEqual(halves, { cookie: 'c', key: 'k' });
    assert.equal(readHalves(['Cookie', 'tool_runtime_console_8=c', 'X-Console-Key', 'k'], 7), undefined);
  });

  for (const [what, headers] of [
    ['without the key', ['Cookie', 'tool_runtime_console_7=c']],
    ['with two keys', ['Cookie', 'tool_runtime_console_7=c', 'X-Console-Key', 'k', 'X-Console-Key', 'l']],
    ['twice', ['Cookie', 'tool_runtime_console_7=c; tool_runtime_console_7=d', 'X-Console-Key', 'k']],
  ] as const) {
    test(`refuses a cookie ${what}`, () => {
      assert.throws(() => readHalves(headers, 7), reasonOf('console_key'));
    });
  }
});
