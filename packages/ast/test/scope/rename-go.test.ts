import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { createEngine } from '../../src/symbols/engine.ts';
import { checkRename, type RenameCase, refusalOf } from './marked-project.ts';

const engine = createEngine();
after(() => engine.delete());

const MOD = 'module example.com/m\n\ngo 1.22\n';

const CASES: readonly RenameCase[] = [
  {
    title: 'a function over the files of its package and the packages that import it',
    files: {
      'go.mod': MOD,
      'a/a.go':
        'package a\n\nfunc «*Foo»() int { return bar() }\n\ntype T struct{ Foo int }\n\nfunc (t T) Bar() int { return t.Foo + «Foo»() }\n',
      'a/b.go': 'package a\n\nfunc bar() int { Foo := 1; _ = Foo; return 2 }\n\nvar x = «Foo»()\n',
      'a/a_test.go': 'package a_test\n\nimport "example.com/m/a"\n\nfunc f() { a.«Foo»() }\n',
      'a/c_test.go': 'package a\n\nfunc g() { «Foo»(); _ = T{Foo: «Foo»()} }\n',
      'b/b.go':
        'package b\n\nimport (\n\talias "example.com/m/a"\n\t. "example.com/m/a"\n)\n\nfunc h() { alias.«Foo»(); «Foo»(); var t alias.T; t.Foo = 1 }\n',
      'c/c.go': 'package c\n\nimport "fmt"\n\nfunc Foo() { fmt.Foo(); Foo() }\n',
    },
    newName: 'Renamed',
  },
  {
    title: 'a name declared once per platform',
    files: {
      'go.mod': MOD,
      'a/x_linux.go': 'package a\n\nfunc «open»() {}\n',
      'a/x_windows.go': 'package a\n\nfunc «*open»() {}\n',
      'a/y.go': 'package a\n\nfunc f() { «open»() }\n',
      'b/open.go': 'package b\n\nfunc open() {}\n',
    },
  },
  {
    title: 'keys of literals: fields, and expressions',
    files: {
      'go.mod': MOD,
      'a/a.go':
        'package a\n\nimport "x/y"\n\nvar «*opts» = 1\n\ntype Options struct{ opts int }\ntype Table map[int]int\n\nfunc f(o Options) {\n\t_ = Options{opts: «opts»}\n\t_ = map[int]int{«opts»: 1}\n' +
        '\t_ = Table{«opts»: 1}\n\t_ = []Options{{opts: «opts»}}\n\t_ = map[string]*Options{"a": {opts: «opts»}}\n\t_ = [9]int{«opts»: 2}\n\t_ = y.Table{«opts»: 1}\n\to.opts = «opts»\n\t_ = struct{ opts int }{opts: «opts»}\n}\n',
    },
  },
  {
    title: 'a key of a type that is not known',
    files: { 'go.mod': MOD, 'a/a.go': 'package a\n\nvar «*opts» = 1\n\nfunc f() { _ = Unknown{opts: «opts»} }\n' },
    residual: ['a/a.go:5 code'],
  },
  {
    title: 'short declarations, from their end on and once per scope',
    files: {
      'a.go':
        'package a\n\nvar x = 1\n\nfunc f(a int) {\n\t«*x», err := x, a\n\ty, «x» := «x», err\n\tif x := «x»; x > 0 { _ = x } else { _ = x }\n\t{ x := «x»; _ = x }\n\tfor i, x := range []int{«x»} { _, _ = i, x }\n\t_ = func() int { return «x» }\n\t_ = y\n}\n',
    },
  },
  {
    title: 'parameters, results, receivers and type parameters',
    files: {
      'a.go':
        'package a\n\nfunc (r *T[«*P»]) M(a «P», b ...«P») (n «P», err error) { var P2 «P»; return P2, nil }\n\ntype T[P any] struct{ f P }\n',
    },
    newName: 'Q',
  },
  {
    title: 'the variable of a type switch and of a select',
    files: {
      'a.go':
        'package a\n\nfunc f(v any, ch chan int) {\n\tswitch «*s» := v.(type) {\n\tcase int:\n\t\t_ = «s»\n\tdefault:\n\t\t_ = «s»\n\t}\n\tselect {\n\tcase s := <-ch:\n\t\t_ = s\n\t}\n}\n',
    },
  },
  {
    title: 'an import name, in its file only',
    files: {
      'a.go': 'package a\n\nimport «*m» "example.com/x"\n\nfunc f() { «m».G(); var t «m».T; _ = t }\n',
      'b.go': 'package a\n\nfunc m() {}\n',
    },
  },
  {
    title: 'a type, local types and labels of the same name stay',
    files: {
      'a.go':
        'package a\n\ntype «*N» int\n\nfunc f(n «N») «N» {\n\ttype M «N»\nN:\n\tfor {\n\t\tbreak N\n\t}\n\tvar _ M\n\treturn «N»(1)\n}\n\nfunc g() { type N string; var _ N }\n',
    },
    newName: 'O',
  },
  {
    title: 'constants in groups',
    files: { 'a.go': 'package a\n\nconst (\n\tA, «*B» = iota, 1\n\tC = «B»\n)\n\n// B is one\nvar s = "B"\n' },
    newName: 'D',
    residual: ['a.go:8 comment', 'a.go:9 string'],
  },
];

describe('rename in Go edits [S0-54]', () => {
  for (const one of CASES) test(one.title, () => checkRename(engine, one));
});

describe('rename in Go refuses [S0-54]', () => {
  test('to hide a name that another package uses, and allows it when none does', async () => {
    const inside = { 'go.mod': MOD, 'a/a.go': 'package a\n\nfunc «*Foo»() {}\n' };
    const user = { 'b/b.go': 'package b\n\nimport "example.com/m/a"\n\nfunc f() { a.«Foo»() }\n' };
    assert.equal(await refusalOf(engine, { ...inside, ...user }, 'foo2'), 'visibility');
    assert.equal(await refusalOf(engine, { ...inside, ...user }, 'Foo2'), undefined);
    assert.equal(await refusalOf(engine, inside, 'foo2'), undefined);
  });

  test('a type that is embedded, for a field bears its name', async () => {
    const embedded = { 'a.go': 'package a\n\ntype «*B» struct{}\n\ntype A struct{ *«B» }\n' };
    const plain = { 'a.go': 'package a\n\ntype «*B» struct{}\n\ntype A struct{ b *«B» }\n' };
    assert.equal(await refusalOf(engine, embedded, 'C'), 'needs_server');
    assert.equal(await refusalOf(engine, plain, 'C'), undefined);
  });

  test('methods, fields, init and main', async () => {
    assert.equal(await refusalOf(engine, { 'a.go': 'package a\n\nfunc (t T) «*M»() {}\n' }), 'needs_server');
    assert.equal(await refusalOf(engine, { 'a.go': 'package a\n\ntype T struct{ «*f» int }\n' }), 'needs_server');
    assert.equal(await refusalOf(engine, { 'a.go': 'package main\n\nfunc «*main»() {}\n' }), 'needs_server');
    assert.equal(await refusalOf(engine, { 'a.go': 'package main\n\nfunc «*main2»() {}\n' }), undefined);
  });
});
