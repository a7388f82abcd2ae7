/** Constructs that an index once left out or named wrongly, one test each. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeSource } from '../src/parse/source-text.ts';
import { createEngine } from '../src/symbols/engine.ts';
import { openScratchEditor } from './scratch-editor.ts';
import { namesOf, scratchIndex } from './scratch-index.ts';

const engine = createEngine();

/** `type container.name`, with a plus where it is exported. */
async function facts(language: string, file: string, text: string): Promise<{ rows: string[]; problems: number }> {
  const parser = await engine.parserFor(language);
  const parsed = parser.parse(decodeSource(Buffer.from(text), file), { path: file });
  try {
    const { nodes, problemCount } = engine.facts(parsed, file);
    const rows = nodes.map(({ type, container, name, exported }) => {
      return `${exported ? '+' : ''}${type} ${container === '' ? '' : `${container}.`}${name}`;
    });
    return { rows, problems: problemCount };
  } finally {
    parsed.delete();
  }
}

function gives(
  title: string,
  [language, file, text]: readonly [string, string, string],
  rows: readonly string[],
): void {
  test(title, async () => {
    assert.deepEqual(await facts(language, file, text), { rows, problems: 0 });
  });
}

describe('gaps of languages [S0-52]', () => {
  gives(
    'every name of a Go list is declared',
    ['go', 'a.go', 'package a\n\nconst p, q = 3, 4\n\nvar r, s = f()\n'],
    ['const p', 'const q', 'var r', 'var s'],
  );

  gives(
    'Kotlin bodies on one line lose nothing, and neither does what follows them',
    [
      'kotlin',
      'a.kt',
      'object Single { fun go() {} }\n\nfun interface Fi { fun call() }\n\nclass After { val x = 1 }\n',
    ],
    ['+class Single', '+method Single.go', '+interface Fi', '+method Fi.call', '+class After', '+field After.x'],
  );

  test('a Kotlin file that is broken stays broken', async () => {
    assert.ok((await facts('kotlin', 'a.kt', 'object Single { fun go( {} }\n\nclass After { val }\n')).problems > 0);
  });

  gives(
    'constructor properties of PHP are fields of the class',
    [
      'php',
      'a.php',
      '<?php\nclass A {\n  function __construct(private int $id, public string $name = "", $no = 1) {}\n}\n',
    ],
    ['+class A', '+method A.__construct', 'field A.id', '+field A.name'],
  );

  gives(
    'constructor properties of TypeScript are fields of the class, plain parameters are not',
    [
      'typescript',
      'a.ts',
      'export class A {\n  constructor(private readonly p: number, public q = 1, readonly r?: string, no = 2) {}\n}\n',
    ],
    ['+class A', '+method A.constructor', 'field A.p', '+field A.q', '+field A.r'],
  );

  gives(
    'a PHP namespace without braces holds what follows, up to the next',
    [
      'php',
      'a.php',
      '<?php\nnamespace App\\Models;\n\nclass User {}\nfunction f() {}\n\nnamespace Other;\nclass B {}\n',
    ],
    ['+module App\\Models', '+class App.Models.User', '+fn App.Models.f', '+module Other', '+class Other.B'],
  );

  gives(
    'a C# namespace without braces holds what follows',
    ['c-sharp', 'a.cs', 'namespace App.Models;\n\npublic class User { }\n'],
    ['+module App.Models', '+class App.Models.User'],
  );

  gives(
    'what is assigned to a JavaScript function or class is its member',
    [
      'javascript',
      'a.js',
      'function Old() {}\nOld.stat = function () {};\nOld.count = 1;\nfunction f() { x.y = () => 1; }\n',
    ],
    ['fn Old', 'method Old.stat', 'field Old.count', 'fn f'],
  );

  gives(
    'destructuring declares every name, at any depth, and neither keys nor defaults',
    [
      'javascript',
      'a.js',
      'const [x, { y, k: { z = d } }, ...r] = f();\nlet { a = b, c: [e], ...o } = g();\n({ n } = h);\n',
    ],
    ['const x', 'const y', 'const z', 'const r', 'var a', 'var e', 'var o'],
  );

  gives(
    'destructuring in TypeScript likewise',
    ['typescript', 'a.ts', 'export const [x, { y }]: [number, { y: number }] = f();\n'],
    ['+const x', '+const y'],
  );

  gives(
    'functions in module.exports are exported',
    [
      'javascript',
      'a.js',
      'module.exports = { one() {}, two: function () {}, three: () => 1, four };\nfunction four() {}\nfunction five() {}\n',
    ],
    ['+method one', '+method two', '+method three', '+fn four', 'fn five'],
  );

  gives(
    'a function and a class that are module.exports themselves are exported',
    ['javascript', 'a.js', 'module.exports = function main() {};\nmodule.exports = class Main {};\n'],
    ['+fn main', '+class Main'],
  );

  gives(
    'every name of a C typedef is a type',
    [
      'c',
      'a.c',
      'typedef struct node { int v; } node_t, *node_p;\ntypedef struct { int w; } plain, *plain_p, row[3];\n',
    ],
    [
      ...['+struct node', '+field node.v', '+type node_t', '+type node_p'],
      ...['+struct plain', '+field plain.w', '+type plain_p', '+type row'],
    ],
  );

  gives(
    'C++ friends are functions of the namespace, and conversions have their type in their name',
    [
      'cpp',
      'a.cpp',
      'namespace a::b {\nclass X {\n  friend void helper(X& x) { }\n  operator bool() const { return true; }\n  void own();\n};\n}\n',
    ],
    ['+module a::b', '+class a.b.X', '+fn a.b.helper', 'method a.b.X.operator bool', 'method a.b.X.own'],
  );

  test('a container may be asked for as its language spells it', async (t) => {
    const { index } = scratchIndex(t, {
      'a.cpp': 'namespace a::b {\nvoid f() {}\n}\n',
      'a.php': '<?php\nnamespace App\\Models;\nclass User {}\n',
    });
    await index.generate();
    for (const container of ['a::b', 'a.b']) assert.deepEqual(namesOf((await index.query({ container })).nodes), ['f']);
    for (const container of ['App\\Models', 'App.*']) {
      assert.deepEqual(namesOf((await index.query({ container })).nodes), ['User']);
    }
  });

  test('a constructor property is deleted with its comma, or refused while it is used', async (t) => {
    const text = 'export class A {\n  constructor(private a: number, private b: string, c = 1) {}\n}\n';
    const used = 'class B {\n  constructor(private x: number) {}\n  get() {\n    return this.x;\n  }\n}\n';
    const scratch = await openScratchEditor(t, { 'a.ts': text, 'b.ts': used });
    const target = await scratch.id('b');
    await scratch.edit({ operation: 'delete_symbol', target_node_id: target });
    assert.equal(scratch.read('a.ts'), text.replace(', private b: string', ''));
    const other = await scratch.id('x');
    await assert.rejects(scratch.edit({ operation: 'delete_symbol', target_node_id: other }));
    assert.equal(scratch.read('b.ts'), used);
  });
});
