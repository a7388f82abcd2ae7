import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileGlobs } from './compile-glob.ts';

const ROWS: readonly [glob: string, path: string, matches: boolean][] = [
  ['**/tests/**', 'tests/a.rs', true],
  ['**/tests/**', 'crates/x/tests/deep/a.rs', true],
  ['**/tests/**', 'src/tests.rs', false],
  ['**/tests/**', 'mytests/a.rs', false],
  ['**/*_test.go', 'a_test.go', true],
  ['**/*_test.go', 'x/a_test.go', true],
  ['**/*_test.go', 'x/a_test.go.bak', false],
  ['**/*.{test,spec}.ts', 'src/a.spec.ts', true],
  ['**/*.{test,spec}.ts', 'src/aXspec.ts', false],
  ['src/?.c', 'src/a.c', true],
  ['src/?.c', 'src/ab.c', false],
  ['a+(b).c', 'a+(b).c', true],
  ['src/*', 'src/a/b', false],
];

for (const [glob, path, matches] of ROWS) {
  test(`the glob ${glob} ${matches ? 'matches' : 'does not match'} ${path}`, () => {
    assert.equal(compileGlobs([glob]).test(path), matches);
  });
}

test('no globs match nothing, several match what any of them matches', () => {
  assert.equal(compileGlobs([]).test(''), false);
  assert.equal(compileGlobs(['a', 'b']).test('b'), true);
});
