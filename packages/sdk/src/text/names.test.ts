import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { didYouMean, nearestName, shownNames } from './names.ts';

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

test('a few names are all shown', () => {
  assert.equal(shownNames([]), '');
  assert.equal(shownNames(['a']), 'a');
  assert.equal(shownNames(['a', 'b\n'], '; '), 'a; b\\n');
});

test('of many names the first are shown, and the rest is counted', () => {
  const many = Array.from({ length: 1000 }, (_, index) => `name-${index}`);
  const text = shownNames(many);
  assert.match(text, /^name-0, name-1, .*, and 9\d\d more$/);
  assert.ok(text.length < 220);
  const shown = text.split(', ').length - 1;
  assert.ok(text.endsWith(`and ${1000 - shown} more`));
});

test('a name that is too long is cut, and the next one only counted', () => {
  assert.match(shownNames(['x'.repeat(5000), 'y'.repeat(50)]), /^x{159}…, and 1 more$/);
});
