import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findingPath } from './finding-path.ts';

test('paths below the root become relative, with forward slashes', () => {
  const table: readonly (readonly [string, string | undefined, string])[] = [
    ['src/a.ts', undefined, 'src/a.ts'],
    ['./src/../lib//a.ts', undefined, 'lib/a.ts'],
    ['/srv/ws/src/a.ts', '/srv/ws', 'src/a.ts'],
    ['/srv/ws/a.ts', '/srv/ws///', 'a.ts'],
    ['/a.ts', '/', 'a.ts'],
    ['C:\\ws\\src\\a.ts', 'c:/ws', 'src/a.ts'],
    ['src\\a.ts', undefined, 'src/a.ts'],
    ['/srv/ws/My Folder/a b.ts', '/srv/ws', 'My Folder/a b.ts'],
    ['Makefile', undefined, 'Makefile'],
  ];
  for (const [printed, root, expected] of table) assert.equal(findingPath(printed, root), expected, printed);
});

test('paths outside the root, and what is no path, are left out', () => {
  const table: readonly (readonly [string, string | undefined])[] = [
    ['/srv/other/a.ts', '/srv/ws'],
    ['/srv/ws2/a.ts', '/srv/ws'],
    ['/srv/ws/../other/a.ts', '/srv/ws'],
    ['/srv/ws/a.ts', undefined],
    ['../a.ts', '/srv/ws'],
    ['a/../../b.ts', undefined],
    ['D:\\x\\a.ts', 'C:\\x'],
    ['word', undefined],
    ['a sentence.', undefined],
    ['2024-05-01 10', undefined],
    ['https://example.org/a.ts', undefined],
    ['a\u0000.ts', undefined],
    [' a.ts', undefined],
    ['', undefined],
    ['.', undefined],
    [`${'x'.repeat(2000)}.ts`, undefined],
  ];
  for (const [printed, root] of table) assert.equal(findingPath(printed, root), undefined, printed);
});

test('whatever is printed, the answer stays inside the workspace', () => {
  const piece = fc.constantFrom('..', '.', '/', '\\', 'a', 'b.ts', 'C:', 'srv', 'ws', ' ');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const path = findingPath(pieces.join(''), '/srv/ws');
      if (path === undefined) return;
      assert.ok(!path.startsWith('/') && !path.includes('\\'));
      assert.ok(path.split('/').every((segment) => segment !== '..' && segment !== '.' && segment !== ''));
    }),
  );
});
