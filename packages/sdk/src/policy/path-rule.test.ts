import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import { fromOutermost } from './declared-paths.ts';
import {
  callPathRule,
  compilePathClause,
  compilePathGlobs,
  intersectPathGlobs,
  type NamedPath,
  type PathClause,
} from './path-rule.ts';

const clause = (patterns: readonly string[], more: Partial<PathClause> = {}): PathClause => ({
  ...compilePathClause(patterns, {
    gate: 'arguments',
    keys: ['path'],
    everyWrite: true,
    refuse: (key, path) => new ToolError('E_POLICY', `${key} ${path}`),
  }),
  ...more,
});

function refused(action: () => void): boolean {
  try {
    action();
    return false;
  } catch (thrown) {
    assert.ok(isToolError(thrown) && thrown.code === 'E_POLICY', String(thrown));
    return true;
  }
}

/** Folders that are links lead where this says; `docs` and `secret` are folders. */
const LINKS: Readonly<Record<string, string>> = { 'docs/link': 'secret', 'docs/inner': 'docs/sub' };

function locate(path: string) {
  const plain = path.replace(/^\.\//, '').replace(/\/$/, '');
  const link = Object.keys(LINKS).find((at) => plain === at || plain.startsWith(`${at}/`));
  const location = link === undefined ? plain : `${LINKS[link]}${plain.slice(link.length)}`;
  return { path, location, isFolder: !location.includes('.') || location === '.' };
}

function gateRefuses(value: string, patterns: readonly string[], isSet = false, prefix = '.'): boolean {
  const named: NamedPath[] = [{ key: 'path', value, isSet }];
  const outer = (path: string) => {
    const { location, isFolder } = locate(path);
    return { path, location: prefix === '.' ? location : `${prefix}/${location}`.replace(/\/\.$/, ''), isFolder };
  };
  return refused(() => callPathRule({ clauses: [clause(patterns)], named, prefix })?.checkNamed('arguments', outer));
}

describe('path rules at the gate', () => {
  test('a path is judged by its letters and by where it leads', () => {
    assert.equal(gateRefuses('docs/a.md', ['docs/**']), false);
    assert.equal(gateRefuses('secret/a.md', ['docs/**']), true);
    assert.equal(gateRefuses('docs/link/a.md', ['docs/**']), true);
    assert.equal(gateRefuses('docs/inner/a.md', ['docs/**']), false);
    assert.equal(gateRefuses('docs/link/a.md', ['docs/**', 'secret/**']), false);
    // The place alone would be allowed, the letters are not.
    assert.equal(gateRefuses('docs/link/a.md', ['secret/**']), true);
    for (const value of ['/docs/a.md', '../docs/a.md', 'C:/docs/a.md', 'docs\0', '\\docs']) {
      assert.equal(gateRefuses(value, ['**']), true, value);
    }
  });

  test('a set is allowed when every path it could mean is', () => {
    for (const [value, patterns, isRefused] of [
      ['docs', ['docs/**'], false],
      ['docs', ['*'], true],
      ['docs/a.md', ['docs/*.md'], false],
      ['docs/*.md', ['docs/*.md'], false],
      ['docs/*', ['docs/*.md'], true],
      ['**', ['*'], true],
      ['*/a.md', ['**'], false],
      ['**/a.md', ['*/a.md'], true],
      ['docs/{a.md,b.md}', ['docs/**'], false],
      ['docs/{a.md,../secret/a.md}', ['docs/**'], true],
      ['{docs,secret}/a.md', ['docs/**'], true],
      ['{docs,secret}/a.md', ['**'], false],
      ['docs/link/*', ['docs/**'], true],
      ['docs/inner/*', ['docs/**'], false],
      ['docs/link', ['docs/**'], true],
      // Its members lead to what is allowed, and are spelled otherwise.
      ['{docs/link,secret}/*', ['\\{docs/**', 'secret/**'], true],
      ['docs/link/a.md', ['docs/**'], true],
      ['docs/inner/a.md', ['docs/**'], false],
      ['.', ['docs/**'], true],
      ['.', ['**'], false],
    ] as const) {
      assert.equal(gateRefuses(value, patterns, true), isRefused, `${value} under ${patterns}`);
    }
  });

  test('a session on a folder is judged from the outermost root', () => {
    assert.equal(gateRefuses('docs/a.md', ['docs/**'], false, 'other'), true);
    assert.equal(gateRefuses('a.md', ['docs/**'], false, 'docs'), false);
    assert.equal(gateRefuses('docs/*', ['docs/**'], true, 'other'), true);
    assert.equal(gateRefuses('*', ['docs/**'], true, 'docs'), false);
    assert.deepEqual(
      ['a', '/a', '../a', '@extra/a'].map((value) => fromOutermost('docs', value)),
      ['docs/a', '/a', '../a', '@extra/a'],
    );
  });

  test('clauses speak at their own gate and about their own keys', () => {
    const named: NamedPath[] = [{ key: 'path', value: 'secret/a.md', isSet: false }];
    const rule = (more: Partial<PathClause>) =>
      callPathRule({ clauses: [clause(['docs/**'], more)], named, prefix: '.' });
    assert.equal(
      refused(() => rule({})?.checkNamed('approval', locate)),
      false,
    );
    assert.equal(
      refused(() => rule({ gate: 'approval' })?.checkNamed('approval', locate)),
      true,
    );
    assert.equal(
      refused(() => rule({ keys: ['other'] })?.checkNamed('arguments', locate)),
      false,
    );
    assert.equal(callPathRule({ clauses: [], named, prefix: '.' }), undefined);
  });
});

describe('path rules where a path is used', () => {
  const named: NamedPath[] = [
    { key: 'path', value: './docs//sub/../a', isSet: false },
    { key: 'other', value: 'elsewhere', isSet: false },
  ];
  const uses = (everyWrite: boolean) => {
    const rule = callPathRule({ clauses: [clause(['docs/**'], { everyWrite })], named, prefix: '.' });
    return (path: string, location: string, access: 'read' | 'write' | 'delete') =>
      refused(() => rule?.check({ path, location, access }));
  };

  test('what an argument names, and what is below it, is judged in both spellings', () => {
    const use = uses(false);
    for (const path of ['docs/a', 'docs/sub/../a', 'docs/a/deep/file']) {
      assert.equal(use(path, 'secret/a', 'read'), true, path);
      assert.equal(use(path, 'docs/a', 'read'), false, path);
    }
    assert.equal(use('docs/ab', 'secret/a', 'read'), false);
    assert.equal(use('elsewhere', 'secret/a', 'write'), false);
  });

  test('a rule without a key is about every write and deletion, and not about other reads', () => {
    const use = uses(true);
    for (const access of ['write', 'delete'] as const) {
      assert.equal(use('docs/x', 'secret/x', access), true);
      assert.equal(use('secret/x', 'docs/x', access), true);
      assert.equal(use('docs/x', 'docs/x', access), false);
    }
    assert.equal(use('secret/x', 'secret/x', 'read'), false);
  });
});

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
