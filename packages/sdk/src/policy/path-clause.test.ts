import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compilePathGlobs, intersectPathGlobs } from './path-clause.ts';

test('judges a path by where it leads, not by how it is spelled [S2-27]', () => {
  const matches = compilePathGlobs(['src/**']);
  assert.deepEqual(
    ['src/a', './src//a', 'x/../src/a', 'src/../etc', 'src/../../etc', '../src/a', ''].map((value) => matches(value)),
    [true, true, true, false, false, false, false],
  );
});

test('lets only an absolute pattern match an absolute path [S2-27]', () => {
  assert.equal(compilePathGlobs(['**'])('/etc/passwd'), false);
  assert.equal(compilePathGlobs(['**'])('.'), true);
  assert.equal(compilePathGlobs(['/tmp/**'])('/tmp/x'), true);
  assert.equal(compilePathGlobs(['/tmp/**'])('/tmp/../etc'), false);
  assert.equal(compilePathGlobs(['/tmp/**'])('tmp/x'), false);
});

test('a relative pattern does not cover an absolute one in an intersection [S2-27]', () => {
  assert.deepEqual(intersectPathGlobs(['**'], ['/tmp/**', 'src/*']), ['src/*']);
  assert.deepEqual(intersectPathGlobs(['/tmp/**'], ['/tmp/a', '/etc/a']), ['/tmp/a']);
});
