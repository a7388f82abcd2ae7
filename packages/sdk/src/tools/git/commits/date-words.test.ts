import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dateWords, gitDate } from './date-words.ts';

test('S0-43 dates are ISO dates or a few plain words, nothing else', () => {
  for (const good of [
    '2026-01-31',
    '2026-01-31T08:00',
    '2026-01-31 08:00:59',
    '2026-01-31T08:00:00Z',
    '2026-01-31T08:00:00+02:00',
    'yesterday',
    '2 weeks ago',
    '1.day.ago',
  ]) {
    assert.equal(dateWords.safeParse(good).success, true, good);
  }
  for (const bad of [
    '',
    '-1',
    '--all',
    '2026-1-3',
    '2026-01-32',
    'tomorrow',
    '2 weeks',
    'x ago',
    '2026-01-31\n',
    ' now',
    '2026-01-31T25:00',
  ]) {
    assert.equal(dateWords.safeParse(bad).success, false, bad);
  }
});

test('S0-43 a bare day is the whole day', () => {
  assert.deepEqual(
    [gitDate('2026-01-31', 'since'), gitDate('2026-01-31', 'until')],
    ['2026-01-31T00:00:00', '2026-01-31T23:59:59'],
  );
  assert.deepEqual([gitDate('today', 'since'), gitDate('today', 'until')], ['midnight', 'now']);
  assert.equal(gitDate('2 weeks ago', 'since'), '2 weeks ago');
});
