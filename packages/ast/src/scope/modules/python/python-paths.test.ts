import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { memoryFiles } from '../../../../test/scope/marked-project.ts';
import { createPythonPaths } from './python-paths.ts';

function pathsOf(...paths: readonly string[]) {
  return createPythonPaths(memoryFiles(Object.fromEntries(paths.map((path) => [path, '']))));
}

describe('a Python module name leads to [S0-70]', () => {
  const CASES: readonly (readonly [string, string, readonly string[], string | undefined])[] = [
    ['a.py', 'b', ['b.py'], 'b.py'],
    ['a.py', 'b', ['b/__init__.py', 'b.py'], 'b/__init__.py'],
    ['a.py', 'b', ['b.pyi'], 'b.pyi'],
    ['a.py', 'b.c', ['b/c.py'], 'b/c.py'],
    ['a.py', 'b', ['b/c.py'], 'b/'],
    ['p/a.py', '.', ['p/__init__.py'], 'p/__init__.py'],
    ['p/a.py', '.b', ['p/b.py'], 'p/b.py'],
    ['p/q/a.py', '..b', ['p/b.py'], 'p/b.py'],
    ['p/q/a.py', '...b.c', ['b/c.py'], 'b/c.py'],
    ['p/a.py', '...b', ['b.py'], undefined],
    ['tests/t.py', 'pkg', ['src/pkg/__init__.py'], 'src/pkg/__init__.py'],
    ['tools/run.py', 'near', ['tools/near.py'], 'tools/near.py'],
    ['pkg/run.py', 'near', ['pkg/__init__.py', 'pkg/near.py'], undefined],
    ['pkg/json/a.py', 'json', ['pkg/__init__.py', 'pkg/json/__init__.py'], undefined],
    ['a.py', 'os', ['b.py'], undefined],
    ['services/x/main.py', 'lib', ['services/x/src/lib.py'], 'services/x/src/lib.py'],
  ];
  for (const [from, source, paths, expected] of CASES) {
    test(`${expected ?? 'nothing'} for ${source} from ${from}`, () => {
      assert.equal(pathsOf(from, ...paths).resolve(from, source), expected);
    });
  }

  test('a module inside of a package, with and without a file of its own', () => {
    const paths = pathsOf('p/__init__.py', 'p/m.py', 'n/m.py', 'f.py');
    assert.equal(paths.inside('p/__init__.py', 'm'), 'p/m.py');
    assert.equal(paths.inside('n/', 'm'), 'n/m.py');
    assert.equal(paths.inside('f.py', 'm'), undefined);
  });

  test('an unknown place is uncertain when some file of the workspace bears the name', () => {
    const paths = pathsOf('odd/place/mod.py', 'a.py');
    assert.ok(paths.isUncertain('a.py', 'mod'));
    assert.ok(!paths.isUncertain('a.py', 'numpy'));
    assert.ok(!paths.isUncertain('odd/place/b.py', 'mod'));
  });
});
