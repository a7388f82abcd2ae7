import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { compileAllowlistPattern } from '../pattern/compile-pattern.ts';
import { isFullyAnchored, literalOf, programOf, spellsOut } from './pattern-reach.ts';

describe('isFullyAnchored', () => {
  const rows: [string, boolean][] = [
    ['^npm test$', true],
    ['^npm( .*)?$', true],
    ['^(?:a|b)$', true],
    ['^a$|^b$', true],
    ['^a\\z', true],
    ['(?i)^a$', true],
    ['^a[$]$', true],
    ['^npm(\\s|$)', false],
    ['^npm', false],
    ['^a|^b$', false],
    ['^a$|^b', false],
    ['^a\\$', false],
    ['^a[b$', false],
    ['^a[$]', false],
    ['^a$?', false],
    ['^a$*', false],
    ['^a\\Q$', false],
    ['^a\\Q$\\E', false],
    ['^a(b$)', false],
    ['^a$|', false],
    ['^[]$]', false],
    ['^a\\p{Greek}$', true],
  ];
  for (const [source, expected] of rows) {
    test(`${source} is ${expected ? 'closed' : 'open'} [S0-12]`, () => {
      assert.equal(isFullyAnchored(source), expected);
    });
  }

  test('nothing can be added behind a closed pattern without a wildcard [S0-12]', () => {
    const part = fc.constantFrom('a', 'b c', '\\.', '(x|y)', '[ab]', 'z?', '\\d', '|', '$', '^', '(?:q)', '\\$', '[$]');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), fc.stringMatching(/^[abcxyzq. ]{0,6}$/), (parts, text) => {
        const source = `^${parts.join('')}`;
        let pattern: ReturnType<typeof compileAllowlistPattern>;
        try {
          pattern = compileAllowlistPattern(source);
        } catch {
          return;
        }
        if (isFullyAnchored(source) && pattern.test(text)) assert.ok(!pattern.test(`${text}--evil-tail`));
      }),
      { numRuns: 5000 },
    );
  });
});

describe('literalOf', () => {
  const rows: [string, string | undefined][] = [
    ['^git status$', 'git status'],
    ['^bash scripts/check\\.sh$', 'bash scripts/check.sh'],
    ['^\\Qa.b (c)\\E$', 'a.b (c)'],
    ['^a{b$', 'a{b'],
    ['^git status', undefined],
    ['^git .*$', undefined],
    ['^git\\sstatus$', undefined],
    ['^a|b$', undefined],
    ['^a+$', undefined],
    ['^a{2}$', undefined],
    ['^[a]$', undefined],
    ['^\\x61$', undefined],
    ['(?i)^a$', undefined],
  ];
  for (const [source, expected] of rows) {
    test(`${source} is ${expected ?? 'no plain text'} [S0-12]`, () => {
      assert.equal(literalOf(source), expected);
      if (expected !== undefined) assert.ok(compileAllowlistPattern(source).test(expected));
    });
  }
});

describe('spellsOut', () => {
  const rows: [string, string, boolean][] = [
    ['^rg --pre cat .*$', '--pre cat', true],
    ['^rg\\s+--pre\\s+cat$', '--pre cat', true],
    ['^rg( --pre cat)? x$', '--pre cat', true],
    ['^rg --pre=cat$', '--pre=cat', true],
    ['^rg --pre cat .*$', '--pre id', false],
    ['^rg --pre [a-z]+$', '--pre id', false],
    ['^rg --pre.*$', '--pre id', false],
    ['^rg --pretty$', '--pre', false],
    ['^rg --pre-glob x$', '--pre', false],
    ['^rg x--pre$', '--pre', false],
    ['^rg -(z)$', '-z', false],
    ['^rg --prex?$', '--pre', true],
    ['^rg .*$', '-z', false],
  ];
  for (const [source, words, expected] of rows) {
    test(`${source} ${expected ? 'says' : 'does not say'} ${words} [S0-12]`, () => {
      assert.equal(spellsOut(source, words), expected);
    });
  }
});

test('programOf reads the name a pattern begins with', () => {
  const rows = ['^npm(\\s|$)', '^npm test$', '^g\\+\\+ x', '^(a|b)', '^\\w+', '^python3\\.12 x', '^rg'];
  assert.deepEqual(rows.map(programOf), ['npm', 'npm', 'g++', '', '', 'python3.12', 'rg']);
});
