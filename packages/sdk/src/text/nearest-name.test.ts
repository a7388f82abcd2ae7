import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { didYouMean, nearestName } from './nearest-name.ts';

const names = ['shell_allow', 'validators', 'version', 'git', 'sec.paths.sandbox'];

describe('nearestName', () => {
  const rows: [string, string | undefined][] = [
    ['shel_allow', 'shell_allow'],
    ['shell_alolw', 'shell_allow'],
    ['Validators', 'validators'],
    ['gti', 'git'],
    ['sec.path.sandbox', 'sec.paths.sandbox'],
    ['completely_different', undefined],
    ['', undefined],
    ['g'.repeat(5000), undefined],
  ];
  for (const [written, expected] of rows) {
    test(`answers ${expected ?? 'nothing'} for "${written.slice(0, 30)}"`, () => {
      assert.equal(nearestName(written, names), expected);
    });
  }

  test('finds every name itself, and its neighbour with two letters swapped', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{4,20}$/), fc.nat(), (name, seed) => {
        const at = seed % (name.length - 1);
        const swapped = name.slice(0, at) + name.charAt(at + 1) + name.charAt(at) + name.slice(at + 2);
        assert.equal(nearestName(name, [name]), name);
        assert.equal(nearestName(swapped, [name]), name);
      }),
    );
  });

  test('is worded for use behind a message', () => {
    assert.equal(didYouMean('gti', names), ' (did you mean git?)');
    assert.equal(didYouMean('nothing like it', names), '');
  });
});
