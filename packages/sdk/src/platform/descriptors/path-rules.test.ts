import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { relativePath, shownPath } from './path-rules.ts';

function refusal(input: string): { code: string; message: string } | string {
  try {
    return relativePath(input);
  } catch (thrown) {
    assert.ok(isToolError(thrown));
    return { code: thrown.code, message: thrown.message };
  }
}

describe('relativePath', () => {
  const malformed: readonly [string, string, string][] = [
    ['an empty path', '', 'a'],
    ['a NUL', 'a\0b', 'a b'],
    ['a lone high surrogate', 'a\ud800b', 'a\u{1f600}b'],
    ['a lone low surrogate', '\udc00', '\u{10000}'],
    ['a path over 4096 bytes', `${'a/'.repeat(2048)}b`, `${'a/'.repeat(2047)}b`],
    ['a path over 4096 bytes that has fewer characters', 'é/'.repeat(1366), 'é/'.repeat(1365)],
    ['a name over 255 bytes', 'x'.repeat(256), 'x'.repeat(255)],
    ['a name over 255 bytes that has fewer characters', `d/${'é'.repeat(128)}`, `d/${'é'.repeat(127)}`],
  ];
  for (const [what, bad, good] of malformed) {
    test(`refuses ${what} as malformed and accepts its twin [S0-14]`, () => {
      const refused = refusal(bad);
      assert.ok(typeof refused === 'object');
      assert.equal(refused.code, 'E_VALIDATION_FAIL');
      assert.equal(typeof refusal(good), 'string');
    });
  }

  const absolute: readonly [string, string][] = [
    ['/etc/passwd', 'etc/passwd'],
    ['//etc/passwd', 'etc//passwd'],
    ['C:\\Windows\\x', 'C/Windows/x'],
    ['c:/x', 'c/x'],
    ['C:x', 'Cx'],
    ['\\\\host\\share\\x', 'host\\share\\x'],
    ['\\x', 'x\\'],
  ];
  for (const [bad, good] of absolute) {
    test(`refuses the absolute form ${bad} by policy and accepts ${good} [S0-14]`, () => {
      const refused = refusal(bad);
      assert.ok(typeof refused === 'object');
      assert.equal(refused.code, 'E_POLICY');
      assert.equal(typeof refusal(good), 'string');
    });
  }

  test('drops dots and doubled slashes, keeps `..` and the trailing slash [S0-14]', () => {
    const forms = ['./a//b', 'a/./b/.', 'a/../b', '..', '.', './', 'a/', '.hidden/..x', 'a/b.txt', '@x/y'];
    assert.deepEqual(forms.map(relativePath), [
      'a/b',
      'a/b/',
      'a/../b',
      '..',
      '.',
      '.',
      'a/',
      '.hidden/..x',
      'a/b.txt',
      '@x/y',
    ]);
  });

  test('is stable: a normal form is its own normal form [S0-14]', () => {
    const part = fc.constantFrom('a', 'b.c', '.', '..', '', '.git', 'é', '\n', 'C:', '\\');
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), (parts) => {
        const once = refusal(parts.join('/'));
        if (typeof once === 'string') assert.equal(relativePath(once), once);
      }),
    );
  });
});

test('messages carry the path cut and on one line [S0-14]', () => {
  assert.equal(shownPath('a\nb\u202ec'), 'a\\nb\\u{202e}c');
  assert.equal(shownPath('x'.repeat(500)).length, 200);
  assert.equal(shownPath('a\ud800'), 'a\\u{d800}');
  assert.equal(shownPath('été/文件.ts'), 'été/文件.ts');
});
