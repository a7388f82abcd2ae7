import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { classifyPath, declaredPaths, firstPathParam } from './declared-paths.ts';

describe('declaredPaths', () => {
  test('lists strings and elements of arrays in the order of the keys [S2-13]', () => {
    const args = { dst: 'b', src: 'a', paths: ['c', 'd'], other: 'no', count: 3 };
    assert.deepEqual(declaredPaths(args, ['src', 'paths', 'dst', 'absent', 'count']), [
      { key: 'src', value: 'a' },
      { key: 'paths', value: 'c' },
      { key: 'paths', value: 'd' },
      { key: 'dst', value: 'b' },
    ]);
  });

  test('does not read inherited keys [S2-13]', () => {
    assert.deepEqual(declaredPaths(Object.create({ path: 'x' }), ['path', 'toString']), []);
  });
});

describe('firstPathParam', () => {
  test('takes the first listed key that holds a string [S2-12]', () => {
    const args = { paths: ['x'], file: 'f', path: 'p' };
    assert.deepEqual(firstPathParam(args, ['paths', 'absent', 'path', 'file']), { key: 'path', value: 'p' });
    assert.equal(firstPathParam(args, ['paths']), undefined);
  });
});

describe('classifyPath', () => {
  test('normalises what stays inside the workspace [S2-13]', () => {
    const rows = {
      a: 'a',
      './a//b': 'a/b',
      'a/../b': 'b',
      'a/b/': 'a/b',
      '.': '.',
      'a/..': '.',
      '...': '...',
      'ä/日': 'ä/日',
    };
    for (const [value, normalized] of Object.entries(rows)) {
      assert.deepEqual(classifyPath(value), { type: 'workspace_relative', normalized });
    }
    assert.equal(classifyPath('a'.repeat(4096)).type, 'workspace_relative');
  });

  test('calls POSIX and Windows absolute forms absolute on every platform [S2-13]', () => {
    for (const value of [
      '/',
      '/etc/passwd',
      '//x',
      'C:\\x',
      'c:/x',
      'C:x',
      '\\\\server\\share',
      '\\x',
      '\\\\?\\C:\\x',
    ]) {
      assert.deepEqual(classifyPath(value), { type: 'host_absolute' }, value);
    }
  });

  test('refuses what cannot be a path inside the root [S2-13]', () => {
    const bad = [
      '',
      'a\0b',
      'a\ud800',
      '..',
      'a/../../b',
      './..',
      '..\\x',
      'a\\..\\..\\x',
      'a'.repeat(4097),
      'ä'.repeat(2049),
    ];
    for (const value of bad) assert.equal(classifyPath(value).type, 'invalid', JSON.stringify(value.slice(0, 20)));
  });

  test('a normalised path has no empty or dot segments and stays as it is [S2-13]', () => {
    const part = fc.oneof(fc.constantFrom('.', '..', '', 'a', '...'), fc.string({ maxLength: 4 }));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const path = classifyPath(parts.join('/'));
        if (path.type !== 'workspace_relative' || path.normalized === '.') return;
        assert.ok(path.normalized.split('/').every((piece) => !['', '.', '..'].includes(piece)));
        const again = classifyPath(path.normalized);
        assert.ok(
          again.type === 'host_absolute' ||
            (again.type === 'workspace_relative' && again.normalized === path.normalized),
        );
      }),
    );
  });
});
