import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RuleSubject } from '../contracts/rule.ts';
import { secPathsSandbox } from './sec.paths.sandbox.ts';

function subject(...values: string[]): RuleSubject {
  return {
    tool: 'any',
    args: {},
    paths: values.map((value) => ({ key: 'path', value })),
    urls: [],
    commands: [],
    environments: [],
    profile: { kind: 'read', side_effect_level: 'read_only', effect: 'read', risk: 'low' },
    changes: [],
  };
}

const violations = (...values: string[]) => secPathsSandbox.check(subject(...values), {} as never);

describe('S0-14 S0-61 sec.paths.sandbox', () => {
  for (const path of ['a', 'a/b.txt', './a', 'a/../b', 'a//b', '..a', 'a..', 'ünï/çødé', 'C', 'ab:c', '.git/config']) {
    test(`S0-14 passes ${JSON.stringify(path)}`, async () => {
      assert.deepEqual(await violations(path), []);
    });
  }

  for (const path of [
    '..',
    '../a',
    'a/../../b',
    '/etc/passwd',
    '//host/share',
    'C:\\a',
    'c:/a',
    '\\\\host\\share',
    '',
    'a\0b',
    '\ud800',
    'a/'.repeat(4000),
  ]) {
    test(`S0-14 refuses ${JSON.stringify(path.slice(0, 20))} and says what to give instead`, async () => {
      const [violation] = await violations(path);
      assert.equal(violation?.path, 'path');
      assert.match(violation?.next ?? '', /relative/);
      assert.ok((violation?.message.length ?? 0) < 300);
    });
  }

  test('S2-13 judges every element of an array of paths', async () => {
    assert.equal((await violations('a', '../b', '/c')).length, 2);
  });

  test('does not apply to calls without paths', () => {
    assert.equal(secPathsSandbox.appliesTo(subject()), false);
    assert.equal(secPathsSandbox.appliesTo(subject('a')), true);
  });
});
