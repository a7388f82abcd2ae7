import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RequestIds } from './requests.ts';

const FRESH = { isKeyed: false };
const numbered = (at: number, length: number) => `${at}`.padStart(length, 'x');

test('what is remembered is bounded in size as well as in number', () => {
  const ids = new RequestIds();
  for (let at = 0; at < 40_000; at++) ids.claim(numbered(at, 256), FRESH);
  assert.ok(ids.bytes <= 512 * 1024, `${ids.bytes} bytes`);
  for (let at = 40_000 - 8192; at < 40_000; at++) assert.ok(ids.has(numbered(at, 256)), `${at} is remembered`);
  assert.equal(ids.has(numbered(0, 256)), false, 'the oldest are forgotten');
});

test('a session with a few calls keeps a few kilobytes', () => {
  const ids = new RequestIds();
  for (let at = 0; at < 500; at++) ids.claim(numbered(at, 36), FRESH);
  assert.ok(ids.bytes <= 16 * 1024, `${ids.bytes} bytes`);
});

test('behaves like a set of strings', () => {
  const id = fc.oneof(fc.nat(40).map(String), fc.string({ minLength: 1, maxLength: 60 }));
  const step = fc.record({ id, forget: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const ids = new RequestIds();
      const model = new Set<string>();
      for (const { id, forget } of steps) {
        assert.equal(ids.has(id), model.has(id));
        if (forget) ids.forget(id);
        else if (model.has(id)) assert.throws(() => ids.claim(id, FRESH), /used before/);
        else ids.claim(id, FRESH);
        if (forget) model.delete(id);
        else model.add(id);
      }
    }),
  );
});

test('ids that differ in one character have different hashes', () => {
  const ids = new RequestIds();
  for (let at = 0; at < 8192; at++) ids.claim(`session-0001-request-${at}`, FRESH);
  for (let at = 8192; at < 300_000; at++) assert.equal(ids.has(`session-0001-request-${at}`), false, `${at}`);
});

test('ids of every length are told apart and refused when they come again', () => {
  const ids = new RequestIds();
  for (const length of [1, 36, 43, 44, 45, 1000]) {
    ids.claim(numbered(1, length), FRESH);
    ids.claim(numbered(2, length), FRESH);
    assert.throws(() => ids.claim(numbered(1, length), FRESH), /used before/);
    ids.claim(numbered(1, length), { isKeyed: true });
    ids.forget(numbered(1, length));
    ids.claim(numbered(1, length), FRESH);
  }
});
