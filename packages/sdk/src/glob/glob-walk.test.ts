import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type GlobLevel, globBase, walkGlobs } from './glob-walk.ts';
import { compileGlobs } from './match-glob.ts';

const piece = fc.constantFrom('a', 'b', '*', '?', 'ab', '[ab]', '[^a]', '{a,b}', '{a,b*}', '.', '\\*');
const segment = fc.oneof(
  { weight: 3, arbitrary: fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join('')) },
  { weight: 1, arbitrary: fc.constant('**') },
);
const glob = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const globs = fc.array(glob, { minLength: 1, maxLength: 3 });
const names = fc.array(
  fc.stringMatching(/^[ab.*]{1,3}$/).filter((name) => !/^\.\.?$/.test(name)),
  {
    minLength: 1,
    maxLength: 4,
  },
);

/** Down the folders, then the last name; undefined when the walk would not go there. */
function walkTo(patterns: readonly string[], path: readonly string[]): boolean | undefined {
  let level: GlobLevel | undefined = walkGlobs(patterns);
  for (const folder of path.slice(0, -1)) level = level?.enter(folder);
  return level?.matches(path.at(-1) ?? '');
}

describe('walkGlobs', () => {
  test('means for every path what matching the whole path means [S0-26]', () => {
    fc.assert(
      fc.property(globs, names, (patterns, path) => {
        assert.equal(walkTo(patterns, path) ?? false, compileGlobs(patterns)(path.join('/')));
      }),
      { numRuns: 3000 },
    );
  });

  test('never enters a folder below which nothing can match [S0-26]', () => {
    assert.equal(walkGlobs(['src/**/*.ts', 'docs/*.md']).enter('lib'), undefined);
    assert.equal(walkGlobs(['src/**/*.ts', 'docs/*.md']).enter('docs')?.enter('deep'), undefined);
    assert.ok(walkGlobs(['src/**/*.ts']).enter('src')?.enter('any')?.matches('x.ts'));
    assert.equal(walkGlobs(['{a,b}/c']).enter('b')?.matches('c'), true);
  });

  test('knows where everything matches, and takes no patterns for that too [S0-26]', () => {
    assert.equal(walkGlobs([]).matchesAll, true);
    assert.equal(walkGlobs(['src/**']).matchesAll, false);
    assert.equal(walkGlobs(['src/**']).enter('src')?.matchesAll, true);
  });

  test('stays fast on patterns made to blow up [S0-26]', () => {
    const level = walkGlobs([`${'*a'.repeat(200)}b`, `${'**/a/'.repeat(100)}b`]);
    let at: GlobLevel | undefined = level;
    for (let depth = 0; depth < 200; depth++) at = at?.enter('a');
    assert.equal(at?.matches('a'.repeat(255)), false);
    assert.equal(at?.matches('b'), true);
  });

  test('refuses what is no glob [S0-26]', () => {
    for (const bad of ['', '[', 'a{b', '!a']) assert.throws(() => walkGlobs([bad]), { code: 'E_VALIDATION_FAIL' });
  });
});

describe('globBase', () => {
  test('gives a folder that holds every match [S0-33]', () => {
    fc.assert(
      fc.property(globs, names, (patterns, path) => {
        const base = globBase(patterns);
        // A trailing `**` also matches the folder itself.
        if (!compileGlobs(patterns)(path.join('/')) || path.length <= base.length) return;
        assert.deepEqual(path.slice(0, base.length), base);
      }),
      { numRuns: 3000 },
    );
  });

  test('is as deep as the text allows [S0-33]', () => {
    assert.deepEqual(globBase(['src/lib/*.ts', 'src/lib/deep/**']), ['src', 'lib']);
    assert.deepEqual(globBase(['src/lib/file.ts']), ['src', 'lib']);
    assert.deepEqual(globBase(['src/*', 'docs/*']), []);
    assert.deepEqual(globBase(['**/*.ts']), []);
    assert.deepEqual(globBase([]), []);
  });
});
