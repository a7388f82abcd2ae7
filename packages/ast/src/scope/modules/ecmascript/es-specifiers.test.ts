import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { memoryFiles } from '../../../../test/scope/marked-project.ts';
import { createSpecifierResolver } from './es-specifiers.ts';

/** Resolves `specifier` from `from` in a workspace of empty files, some of them with text. */
function resolve(from: string, specifier: string, paths: readonly string[], texts: Record<string, unknown> = {}) {
  const empty = Object.fromEntries(paths.map((path) => [path, '']));
  const written = Object.entries(texts).map(([path, value]) => [
    path,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return createSpecifierResolver(memoryFiles({ ...empty, ...Object.fromEntries(written) })).resolve(from, specifier);
}

describe('an ECMAScript specifier leads to [S0-70]', () => {
  const RELATIVE: readonly (readonly [string, string, readonly string[], string | undefined])[] = [
    ['src/a.ts', './b.ts', ['src/b.ts'], 'src/b.ts'],
    ['src/a.ts', './b', ['src/b.js', 'src/b.ts'], 'src/b.ts'],
    ['src/a.ts', './b', ['src/b.tsx'], 'src/b.tsx'],
    ['src/a.ts', './b', ['src/b.d.ts', 'src/b.js'], 'src/b.d.ts'],
    ['src/a.ts', './b.js', ['src/b.ts', 'src/b.js'], 'src/b.ts'],
    ['src/a.ts', './b.js', ['src/b.tsx'], 'src/b.tsx'],
    ['src/a.ts', './b.jsx', ['src/b.tsx'], 'src/b.tsx'],
    ['src/a.ts', './b.mjs', ['src/b.mts'], 'src/b.mts'],
    ['src/a.ts', './b.cjs', ['src/b.cts'], 'src/b.cts'],
    ['src/a.ts', './b.mjs', ['src/b.mjs'], 'src/b.mjs'],
    ['src/a.ts', './b.test', ['src/b.test.ts'], 'src/b.test.ts'],
    ['src/a.ts', './dir', ['src/dir/index.ts'], 'src/dir/index.ts'],
    ['src/a.ts', './dir/', ['src/dir/index.tsx'], 'src/dir/index.tsx'],
    ['src/a.ts', '.', ['src/index.ts'], 'src/index.ts'],
    ['src/dir/a.ts', '..', ['src/index.js'], 'src/index.js'],
    ['src/a.ts', './b?raw', ['src/b.ts'], 'src/b.ts'],
    ['src/a.ts', './data.json', ['src/data.json'], 'src/data.json'],
    ['src/a.ts', '../../out.ts', ['out.ts'], undefined],
    ['src/a.ts', './missing', ['src/b.ts'], undefined],
    ['src/a.ts', 'react', ['src/react.ts'], undefined],
    ['src/a.ts', 'node:fs', ['fs.ts'], undefined],
    ['src/a.ts', 'https://x.org/b.ts', ['b.ts'], undefined],
  ];
  for (const [from, specifier, paths, expected] of RELATIVE) {
    test(`${expected ?? 'nothing'} for ${specifier} among ${paths.join(', ')}`, () => {
      assert.equal(resolve(from, specifier, paths), expected);
    });
  }

  test('what baseUrl and paths say, the most specific pattern first, through comments and extends', () => {
    const texts = {
      'tsconfig.base.json':
        '{ // base\n "compilerOptions": { "baseUrl": "./src", "paths": { "@/*": ["*"], "@/lib/*": ["library/*"], "exact": ["one.ts"], }, } }',
      'app/tsconfig.json': { extends: '../tsconfig.base' },
    };
    const paths = ['src/a.ts', 'src/library/b.ts', 'src/lib/b.ts', 'src/one.ts', 'src/plain/c.ts'];
    assert.equal(resolve('app/x.ts', '@/a', paths, texts), 'src/a.ts');
    assert.equal(resolve('app/x.ts', '@/lib/b', paths, texts), 'src/library/b.ts');
    assert.equal(resolve('app/x.ts', 'exact', paths, texts), 'src/one.ts');
    assert.equal(resolve('app/x.ts', 'plain/c', paths, texts), 'src/plain/c.ts');
    assert.equal(resolve('other/x.ts', '@/a', paths, texts), undefined);
  });

  test('paths without baseUrl, of a referenced project, and of jsconfig', () => {
    const texts = {
      'web/tsconfig.json': { files: [], references: [{ path: './tsconfig.app.json' }] },
      'web/tsconfig.app.json': { compilerOptions: { paths: { '~/*': ['./source/*'] } } },
      'js/jsconfig.json': { compilerOptions: { paths: { 'x/*': ['./y/*'] } } },
    };
    assert.equal(resolve('web/source/b.ts', '~/a', ['web/source/a.ts'], texts), 'web/source/a.ts');
    assert.equal(resolve('js/b.js', 'x/a', ['js/y/a.js'], texts), 'js/y/a.js');
  });

  test('packages of the workspace, by exports, patterns and old fields', () => {
    const texts = {
      'packages/core/package.json': {
        name: '@x/core',
        exports: {
          '.': { types: './dist/index.d.ts', default: './dist/index.js' },
          './sub': { source: './src/sub.ts', default: './dist/sub.js' },
          './deep/*': './src/deep/*.ts',
        },
      },
      'packages/old/package.json': { name: 'old', main: 'lib/main.js' },
      'packages/plain/package.json': { name: 'plain' },
    };
    const paths = [
      'packages/core/src/index.ts',
      'packages/core/src/sub.ts',
      'packages/core/src/deep/a.ts',
      'packages/old/src/main.ts',
      'packages/plain/index.js',
      'packages/plain/x/y.ts',
    ];
    const from = 'app/a.ts';
    assert.equal(resolve(from, '@x/core', paths, texts), 'packages/core/src/index.ts');
    assert.equal(resolve(from, '@x/core/sub', paths, texts), 'packages/core/src/sub.ts');
    assert.equal(resolve(from, '@x/core/deep/a', paths, texts), 'packages/core/src/deep/a.ts');
    assert.equal(resolve(from, '@x/core/missing', paths, texts), undefined);
    assert.equal(resolve(from, 'old', paths, texts), 'packages/old/src/main.ts');
    assert.equal(resolve(from, 'plain', paths, texts), 'packages/plain/index.js');
    assert.equal(resolve(from, 'plain/x/y', paths, texts), 'packages/plain/x/y.ts');
    assert.equal(resolve(from, '@x/other', paths, texts), undefined);
  });

  test('imports of the own package', () => {
    const texts = { 'p/package.json': { name: 'p', imports: { '#a': './src/a.js', '#lib/*': './src/lib/*.js' } } };
    assert.equal(resolve('p/src/b.ts', '#a', ['p/src/a.ts'], texts), 'p/src/a.ts');
    assert.equal(resolve('p/src/b.ts', '#lib/c', ['p/src/lib/c.ts'], texts), 'p/src/lib/c.ts');
  });

  test('nothing in configurations that are broken or go in circles', () => {
    const texts = {
      'tsconfig.json': {
        extends: './tsconfig.json',
        compilerOptions: { paths: { 'x/*': 'not a list', '@/*': [1, './src/*'] } },
      },
      'package.json': '{ broken',
    };
    assert.equal(resolve('a.ts', 'x/b', ['b.ts'], texts), undefined);
    assert.equal(resolve('a.ts', '@/b', ['src/b.ts'], texts), 'src/b.ts');
  });

  test('an alias that no configuration explains is uncertain, a package is not', () => {
    const resolver = createSpecifierResolver(memoryFiles({ 'src/a.ts': '' }));
    for (const alias of ['@/a', '~/a', '#a', '$lib/a', '/src/a']) assert.ok(resolver.isUncertain('b.ts', alias), alias);
    for (const other of ['react', '@x/y', './missing']) assert.ok(!resolver.isUncertain('b.ts', other), other);
  });
});
