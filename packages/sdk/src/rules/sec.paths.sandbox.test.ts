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

describe('sec.paths.sandbox [S0-14 S0-61]', () => {
  for (const path of ['a', 'a/b.txt', './a', 'a/../b', 'a//b', '..a', 'a..', 'ünï/çødé', 'C', 'ab:c', '.git/config']) {
    test(`passes ${JSON.stringify(path)} [S0-14]`, async () => {
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
    test(`refuses ${JSON.stringify(path.slice(0, 20))} and says what to give instead [S0-14]`, async () => {
      const [violation] = await violations(path);
      assert.equal(violation?.path, 'path');
      assert.match(violation?.next ?? '', /relative/);
      assert.ok((violation?.message.length ?? 0) < 300);
    });
  }

  test('judges every element of an array of paths [S2-13]', async () => {
    assert.equal((await violations('a', '../b', '/c')).length, 2);
  });

  test('does not apply to calls without paths', () => {
    assert.equal(secPathsSandbox.appliesTo(subject()), false);
    assert.equal(secPathsSandbox.appliesTo(subject('a')), true);
  });
});
