import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { memoryFiles } from '../../test/scope/marked-project.ts';
import { createEngine } from '../symbols/engine.ts';
import { whoImports } from './who-imports.ts';

const engine = createEngine();
after(() => engine.delete());

async function importers(path: string, texts: Readonly<Record<string, string>>): Promise<string[]> {
  const found = await whoImports({ files: memoryFiles(texts), engine, path });
  assert.equal(found.refused, undefined);
  return found.importers.map((one) => `${one.path}:${one.line} ${one.source} [${one.names}]`);
}

describe('whoImports [S0-70]', () => {
  test('finds every way to import an ECMAScript file', async () => {
    const texts = {
      'tsconfig.json': '{ "compilerOptions": { "paths": { "the-a": ["./src/a.ts"] } } }',
      'src/package.json': '{ "name": "own", "exports": "./a.ts" }',
      'src/a.ts': 'export const x = 1;\n',
      'b.ts': "import { x, y as z } from './src/a.js';\nimport './src/a';\nimport * as n from 'own';\n",
      'c.ts': "export { x } from 'the-a';\nexport * from './src/a';\nawait import('./src/a.ts');\n",
      'd.js': "require('./src/a');\n",
      'e.ts': "import { x } from './other/a';\n",
      'other/a.ts': '',
    };
    assert.deepEqual(await importers('src/a.ts', texts), [
      'b.ts:1 ./src/a.js [x,y]',
      'b.ts:2 ./src/a []',
      'b.ts:3 own []',
      'c.ts:1 the-a [x]',
      'c.ts:2 ./src/a []',
      'c.ts:3 ./src/a.ts []',
      'd.js:1 ./src/a []',
    ]);
    const index = { 'src/index.ts': '', 'src/b.ts': "import '.';\n", 'c.ts': "import './src';\n" };
    assert.deepEqual(await importers('src/index.ts', index), ['c.ts:1 ./src []', 'src/b.ts:1 . []']);
  });

  test('finds every way to import a Python module', async () => {
    const texts = {
      'p/__init__.py': '',
      'p/m.py': '',
      'p/n.py': 'from .m import x, y\nfrom . import m\nfrom .m import *\n',
      'q.py': 'import p.m\nimport p.m as k\nfrom p import m\nimport p\n',
    };
    assert.deepEqual(await importers('p/m.py', texts), [
      'p/n.py:1 .m [x,y]',
      'p/n.py:2 . [m]',
      'p/n.py:3 .m []',
      'q.py:1 p.m []',
      'q.py:2 p.m []',
      'q.py:3 p [m]',
    ]);
    assert.deepEqual(await importers('p/__init__.py', texts), ['p/n.py:2 . [m]', 'q.py:3 p [m]', 'q.py:4 p []']);
  });

  test('finds Go packages and Rust modules', async () => {
    const go = {
      'go.mod': 'module x.org/m\n',
      'a/a.go': 'package a\n',
      'b/b.go': 'package b\n\nimport (\n\t"fmt"\n\tq "x.org/m/a"\n\t_ "x.org/m/a"\n)\n',
    };
    assert.deepEqual(await importers('a/a.go', go), ['b/b.go:5 x.org/m/a []', 'b/b.go:6 x.org/m/a []']);
    const rust = {
      'src/lib.rs': 'mod a;\nuse a::{x, y as z};\nuse a::*;\n',
      'src/a.rs': 'pub fn x() {}\npub fn y() {}\n',
    };
    assert.deepEqual(await importers('src/a.rs', rust), [
      'src/lib.rs:2 x [x]',
      'src/lib.rs:2 y [y]',
      'src/lib.rs:3 a []',
    ]);
  });

  test('refuses a file of a language without imports it knows', async () => {
    const found = await whoImports({ files: memoryFiles({ 'a.txt': '' }), engine, path: 'a.txt' });
    assert.equal(found.refused?.reason, 'unsupported_language');
  });
});
