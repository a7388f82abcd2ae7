import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileGlobs } from '@tool-runtime/sdk';
import fc from 'fast-check';
import { compileNames } from './name-patterns.ts';

describe('compileNames', () => {
  test('means what the same words mean in a registry', () => {
    const letters = fc.constantFrom('a', 'b', '_', '-', '*', '?');
    const pattern = fc.string({ unit: letters, minLength: 1, maxLength: 8 });
    const name = fc.string({ unit: fc.constantFrom('a', 'b', '_', '-'), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(pattern, name, (wild, text) => {
        assert.equal(compileNames([wild])(text), compileGlobs([wild])(text));
      }),
      { numRuns: 5000 },
    );
  });

  test('takes plain names and lists of them, and nothing else', () => {
    const fits = compileNames(['file_read', 'git_*']);
    assert.deepEqual(['file_read', 'git_log', 'file_write', 'git'].map(fits), [true, true, false, false]);
    assert.equal(compileNames([])('a'), false);
    for (const pattern of ['', 'a/b', '{a,b}', '[a]', 'a b', 'x'.repeat(129)]) {
      assert.throws(() => compileNames([pattern]), /Not a tool name/);
    }
  });

  test('does not tire of many stars', () => {
    assert.equal(compileNames([`${'*a'.repeat(60)}b`])('a'.repeat(5000)), false);
  });
});
