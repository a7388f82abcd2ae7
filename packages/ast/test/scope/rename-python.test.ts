import { after, describe, test } from 'node:test';
import { createEngine } from '../../src/symbols/engine.ts';
import { checkRename, type RenameCase } from './marked-project.ts';

const engine = createEngine();
after(() => engine.delete());

const CASES: readonly RenameCase[] = [
  {
    title: 'a module variable, its imports, attributes and __all__',
    files: {
      'pkg/__init__.py': "from .a import «x»\nfrom . import a as aa\nfrom .a import «x» as q\n__all__ = ['«x»', 'q']\n",
      'pkg/a.py':
        "«*x» = 1\n__all__ = ['«x»']\ndef f():\n    global «x»\n    «x» = 2\n    return «x»\nclass K:\n    x = «x»\n    y = x\n    def m(self): return «x»\n",
      'b.py':
        'from pkg import «x»\nimport pkg\nimport pkg.a\nimport pkg.a as pa\nfrom pkg import a\nprint(«x», pkg.«x», pkg.a.«x», pa.«x», a.«x»)\n' +
        'def g(x): return x\ng(x=1)\n',
      'c.py': 'from pkg.a import *\nprint(«x»)\n',
      'd.py': 'import pkg\nprint(pkg.q, pkg.aa.«x»)\nx = 3\n',
    },
  },
  {
    title: 'a redundant alias, both names',
    files: { 'a.py': '«*x» = 1\n', 'b.py': 'from a import «x» as «x»\n«x»\n' },
  },
  {
    title: 'from the place of an import, everywhere',
    files: { 'a.py': '«x» = 1\n', 'b.py': 'from a import «*x»\nprint(«x»)\n' },
  },
  {
    title: 'an import from outside, which gets an alias',
    files: {
      'a.py': 'from os import «*path→path as renamed»\n«path».join\n',
      'b.py': 'from a import «path»\nimport a\na.«path»\n',
    },
  },
  {
    title: 'a module imported from outside',
    files: { 'a.py': 'import «*os→os as renamed»\n«os».path\n' },
  },
  {
    title: 'an import beside a fallback',
    files: {
      'a.py': 'try:\n    from os import «*fast→fast as renamed»\nexcept ImportError:\n    «fast» = None\n',
      'b.py': 'from a import «fast»\n',
    },
  },
  {
    title: 'one of two sources of a name, which the importer keeps',
    files: {
      'a.py': '«*x» = 1\n',
      'b.py': 'y = 2\n',
      'c.py': 'try:\n    from a import «x→renamed as x»\nexcept ImportError:\n    from b import y as x\nprint(x)\n',
      'd.py': 'from c import x\n',
    },
  },
  {
    title: 'star imports, with __all__ and without',
    files: {
      'pkg/__init__.py': 'from .a import *\nfrom .b import *\n',
      'pkg/a.py': "def «*foo»(): ...\n__all__ = ['«foo»']\n",
      'pkg/b.py': 'from .a import «foo»\n',
      'pkg/closed.py': 'from .a import «foo»\n__all__ = []\n',
      'u.py': 'from pkg import «foo»\nimport pkg\npkg.«foo»()\n',
      'v.py': 'from pkg.closed import *\nfoo()\n',
    },
  },
  {
    title: 'a function named like its module',
    files: {
      'pkg/__init__.py': 'from .foo import «foo»\n',
      'pkg/foo.py': 'def «*foo»(): ...\n',
      'u.py': 'from pkg import «foo»\nfrom pkg.foo import «foo» as f2\n«foo»()\n',
    },
  },
  {
    title: 'a submodule that the package imports from itself',
    files: {
      'pkg/__init__.py': 'from . import json as json\n',
      'pkg/json/__init__.py': 'import json as _json\ndef «*load»(f): return _json.load(f)\n',
      'u.py': 'import pkg\npkg.json.«load»(1)\n',
    },
  },
  {
    title: 'a package without a file of its own, and one below src',
    files: {
      'src/top/mod.py': '«*x» = 1\n',
      'src/top/user.py': 'from .mod import «x»\n',
      'tests/t.py': 'import top.mod\ntop.mod.«x»\nfrom top.mod import «x»\n',
    },
  },
  {
    title: 'a parameter and the keywords of calls',
    files: {
      'a.py': "def f(«*x», y=1):\n    '''x thing'''\n    return [x for x in «x»] + [«x»]\nf(«x»=1)\n",
      'b.py': 'from a import f\nf(«x»=2)\ng(x=3)\n',
      'c.py': 'import a\na.f(y=1, «x»=2)\n',
      'd.py': 'x = 1\n',
    },
    residual: ['a.py:2 string', 'b.py:3 member'],
  },
  {
    title: 'a parameter of a constructor',
    files: {
      'a.py': 'class K:\n    def __init__(self, «*x»): self.x = «x»\nK(«x»=1)\n',
      'b.py': 'from a import K as L\nL(«x»=2)\nclass M(L): pass\nM(x=3)\n',
    },
    residual: ['b.py:4 member'],
  },
  {
    title: 'parameters that no keyword reaches',
    files: { 'a.py': 'def f(«*x», /, *args, **kw): return «x»\nf(1, x=2)\ndef g(*y): return y\n' },
  },
  {
    title: 'a class, also where strings name it',
    files: {
      'a.py':
        "from __future__ import annotations\nclass «*K»:\n    pass\ndef f(a: «K», b: '«K»', c: 'list[«K»]', d: 'None | «K»') -> '«K»':\n    return «K»()\n" +
        "z = cast('«K»', 1)\nT = TypeVar('T', bound='«K»')\nl: Literal['K'] = 'K'\n# K\n",
      'b.py': "import a\nclass L(a.«K»): pass\nx: 'a.«K»'\n",
    },
    newName: 'R',
    residual: ['a.py:8 string', 'a.py:8 string', 'a.py:9 comment'],
  },
  {
    title: 'closures, nonlocal, lambdas, class bodies, f-strings',
    files: {
      'a.py':
        'def f():\n    «*n» = 1\n    def g():\n        nonlocal «n»\n        «n» += 1\n        return lambda n=«n»: n\n    class C:\n        n = n\n' +
        "        y = [«n» for _ in range(n)]\n    return «n», f'{«n»} {«n»!r:>{«n»}}'\n",
    },
  },
  {
    title: 'comprehensions and walrus',
    files: { 'a.py': 'x = [1]\ny = [«*x» for «x» in x if (z := «x»)]\nprint(x, z)\n' },
  },
  {
    title: 'a walrus inside of a comprehension binds around it',
    files: { 'a.py': 'def f(a):\n    [(«*z» := b) for b in a]\n    return «z»\n' },
  },
  {
    title: 'patterns of match',
    files: {
      'a.py':
        "def f(v):\n    match v:\n        case [«*x», *rest] | («x», *rest): return «x»\n        case {'k': «x», **kw}: return «x»\n        case K(x=«x»): return «x»\n        case str() as «x»: return «x»\n        case a.x: pass\n",
    },
  },
  {
    title: 'generic aliases, functions and classes',
    files: {
      'a.py':
        'type «*A»[T] = list[T]\ndef f[T](a: T, b: «A»[T]) -> T: return a\nclass C[T]:\n    def m(self, t: T) -> «A»: ...\n',
    },
    newName: 'B',
  },
  {
    title: 'for, with, except and del bind the same name',
    files: {
      'a.py':
        "def f():\n    try: pass\n    except E as «*e»: print(«e»)\n    with open('') as «e»: «e»\n    for «e», [*o] in []: «e»\n    del «e»\n",
    },
  },
  {
    title: 'default values and annotations, which belong outside',
    files: {
      'a.py': 'def f(x: x = x, *, y=x) -> x: return x\n«*x» = 1\n'.replace(
        'x: x = x, *, y=x) -> x',
        'x: «x» = «x», *, y=«x») -> «x»',
      ),
    },
  },
  {
    title: 'attributes of unknown objects, which are reported',
    files: { 'a.py': '«*load» = 1\n', 'b.py': "import a\nb = a\nb.load\ngetattr(a, 'load')\n" },
    residual: ['b.py:3 member', 'b.py:4 string'],
  },
  {
    title: 'a stub beside its module',
    files: { 'a.py': 'def «*f»(): ...\n', 'a.pyi': 'def «f»() -> None: ...\n', 'b.py': 'from a import «f»\n' },
  },
];

describe('rename in Python edits [S0-54]', () => {
  for (const one of CASES) test(one.title, () => checkRename(engine, one));
});
