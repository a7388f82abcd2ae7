import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { StableForms } from './stable-forms.ts';

const folders = { workspace: '/users/me/work', state: '/users/me/.state', home: '/users/me' };
const uuid = (end: string) => `1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7${end}`;
const forms = (before = '') => new StableForms({ folders, isOurs: (id) => id.endsWith('0'), before });

describe('stable forms', () => {
  const texts: readonly (readonly [string, string, string])[] = [
    ['the workspace', 'in /users/me/work.', 'in <workspace>.'],
    ['a file of it', 'file:///users/me/work/a.txt', 'file://<workspace>/a.txt'],
    ['the longest folder', '/users/me/.state/x and /users/me/x', '<state>/x and <home>/x'],
    ['another folder', '/users/me/work2 /x/users/me/work', '<home>/work2 /x/users/me/work'],
    ['a mark in the text', 'a <workspace> <home!> <other>', 'a <workspace!> <home!!> <other>'],
    ['an id of ours', `call ${uuid('0000')}`, 'call 00000000-0000-4000-8000-000000000001'],
    ['another id', `call ${uuid('0001')}`, `call ${uuid('0001')}`],
    ['an artifact', `artifact:${'ab'.repeat(16)}`, `artifact:${'0'.repeat(31)}1`],
    ['a recovery point', 'x/20261118T041334123Z-0a1b2c3d4e5f', 'x/20000101T000000000Z-000000000001'],
    ['a run', '2026-11-18T04-13-34-123456Z-000007', '2000-01-01T00-00-00-000000Z-000001'],
    ['a digest', `sha256:${'ab'.repeat(32)}`, `sha256:${'ab'.repeat(32)}`],
  ];
  for (const [what, text, stable] of texts) {
    test(`of ${what}`, () => assert.equal(forms().text(text), stable));
  }

  test('number ids in the order in which they appear, and after those that are there', () => {
    const stable = forms();
    const [one, other] = [uuid('aaa0'), uuid('bbb0')];
    assert.deepEqual(
      stable.answer([other, one, other]),
      [2, 1, 2].map((n) => `00000000-0000-4000-8000-00000000000${3 - n}`),
    );
    const later = forms('"00000000-0000-4000-8000-000000000007"');
    assert.equal(later.text(one), '00000000-0000-4000-8000-000000000008');
    assert.equal(
      later.answer({ tx_id: '00000000-0000-4000-8000-000000000007' }).tx_id,
      '00000000-0000-4000-8000-000000000007',
    );
  });

  test('shorten names of git objects as the whole ones', () => {
    const commit = '3f786850e387550fdab836ed7e6dc881de23001b';
    assert.deepEqual(forms().answer({ commit, text: `at ${commit.slice(0, 9)}, not 3f78685x` }), {
      commit: `0000001${'0'.repeat(33)}`,
      text: 'at 000000100, not 3f78685x',
    });
  });

  test('fix times and durations in answers by their names, and leave those of arguments', () => {
    const value = {
      duration_ms: 12.5,
      mtime: '2026-11-18T04:13:34.123Z',
      started_at: 1_795_000_000_000,
      pid: 4711,
      size: 7,
    };
    assert.deepEqual(forms().answer(value), {
      ...{ duration_ms: 0, mtime: '2000-01-01T00:00:00.000Z', started_at: 0, pid: 1, size: 7 },
    });
    assert.deepEqual(forms().args(value), { ...value, pid: 1 });
    const content = { content: '2026-11-18T04:13:34Z', time: 'soon', remaining_ms: null };
    assert.deepEqual(forms().answer(content), content);
  });

  test('give every text back that has no id in it', () => {
    const pieces = fc.constantFrom(
      '/users/me/work',
      '/users/me',
      '<workspace>',
      '<',
      '<home!>',
      '!',
      '/a',
      ' ',
      'x',
      '<state',
      '>',
    );
    const words = fc.array(pieces).map((list) => list.join(''));
    fc.assert(
      fc.property(words, (text) => {
        assert.equal(forms().live(forms().text(text)), text);
      }),
      { numRuns: 2000 },
    );
  });
});
