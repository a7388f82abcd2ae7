import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Parser, Tree } from 'web-tree-sitter';
import { refusal, testEdit, testRefusal } from '../../../test/edit-case.ts';
import { openScratchEditor } from '../../../test/scratch-editor.ts';

type Constraints = Readonly<Record<string, { readonly regex: string }>>;
const rewrite = (
  language: string,
  pattern: string,
  replacement: string,
  more: { max_matches?: number; paths?: string[]; constraints?: Constraints } = {},
) => ({ operation: 'rewrite', language, pattern, replacement, ...more }) as const;

describe('rewrite', () => {
  const cases: readonly (readonly [string, string, string, ReturnType<typeof rewrite>, string])[] = [
    [
      'replaces matches inside of matches',
      'a.ts',
      "const s = '😀é';\nfoo(bar(1), foo(2, 3));\nfoo( );\n",
      rewrite('typescript', 'foo($$$A)', 'baz($$$A)'),
      "const s = '😀é';\nbaz(bar(1), baz(2, 3));\nbaz();\n",
    ],
    [
      'swaps what it captured',
      'a.ts',
      'assert.equal(a /* x */, b());\n',
      rewrite('typescript', 'assert.equal($A, $B)', 'expect($B).toBe($A)'),
      'expect(b()).toBe(a);\n',
    ],
    [
      'obeys constraints',
      'a.ts',
      'foo(1);\nfoo(x);\n',
      rewrite('typescript', 'foo($A)', 'bar($A)', { constraints: { A: { regex: '^\\d' } } }),
      'bar(1);\nfoo(x);\n',
    ],
    [
      'moves a captured block and leaves strings',
      'a.py',
      'def f():\n    if x:\n        foo(1)\n        foo("""a\n  b""")\n    y\n',
      rewrite('python', 'if $C:\n    $$$B', 'with q:\n    while $C:\n        $$$B'),
      'def f():\n    with q:\n        while x:\n            foo(1)\n            foo("""a\n  b""")\n    y\n',
    ],
    [
      'works in Rust',
      'a.rs',
      'fn f() { let x = a.unwrap().unwrap(); }\n',
      rewrite('rust', '$A.unwrap()', '$A?'),
      'fn f() { let x = a??; }\n',
    ],
    [
      'works in Go',
      'a.go',
      'package a\n\nfunc f() {\n\tfmt.Println("é", 1)\n}\n',
      rewrite('go', 'fmt.Println($$$A)', 'log.Print($$$A)'),
      'package a\n\nfunc f() {\n\tlog.Print("é", 1)\n}\n',
    ],
    [
      'works in Java',
      'A.java',
      'class A { void f() { System.out.println(1); } }\n',
      rewrite('java', 'System.out.println($A)', 'log($A)'),
      'class A { void f() { log(1); } }\n',
    ],
    [
      'works in C',
      'a.c',
      'int main() { printf("x"); }\n',
      rewrite('c', 'printf($$$A)', 'fprintf(stderr, $$$A)'),
      'int main() { fprintf(stderr, "x"); }\n',
    ],
    [
      'works in PHP, where names begin with the sign of variables',
      'a.php',
      '<?php\nfoo($a, 1);\n',
      rewrite('php', 'foo($A, $B)', 'bar($B, $A)'),
      '<?php\nbar(1, $a);\n',
    ],
    [
      'leaves the end of a declaration in CSS',
      'a.css',
      'a { color: red; b: c; }\n',
      rewrite('css', 'color: $A', 'background: $A'),
      'a { background: red; b: c; }\n',
    ],
    ['works in Ruby', 'a.rb', 'puts foo(1)\n', rewrite('ruby', 'puts $A', 'p $A'), 'p foo(1)\n'],
    ['works in Bash', 'a.sh', 'foo "$x" b\n', rewrite('bash', 'foo $A b', 'bar $A b'), 'bar "$x" b\n'],
  ];
  for (const [name, file, before, edit, after] of cases) testEdit(`${name} [S0-54]`, { file, before, edit, after });

  test('passes over what only has the name of a source, and says so', async (t) => {
    const { editor } = await openScratchEditor(t, { 'a.ts': 'foo(1);\n', 'binary.ts': 'foo(\0\x01\x02)' });
    const plan = await editor.plan(rewrite('typescript', 'foo($A)', 'bar($A)'));
    assert.deepEqual(
      plan.files.map(({ path }) => path),
      ['a.ts'],
    );
    assert.match(plan.warnings.join(), /binary\.ts/);
  });

  test('rewrites every match once and reports what matches again [S0-54]', async (t) => {
    const { editor } = await openScratchEditor(t, { 'a.ts': 'foo(foo(1));\n' });
    const plan = await editor.plan(rewrite('typescript', 'foo($A)', 'foo(foo($A))'));
    assert.equal(Buffer.from(plan.files[0]?.after ?? '').toString(), 'foo(foo(foo(foo(1))));\n');
    assert.equal(plan.residual.length, 4);
    assert.deepEqual(plan.residual[0], { file: 'a.ts', line: 1, col: 1, kind: 'match' });
  });

  test('goes over files by glob and leaves generated ones alone [S0-54]', async (t) => {
    const text = 'foo(1);\n';
    const files = { 'a.ts': text, 'b/c.ts': text, 'g.ts': `// @generated\n${text}`, 'a.py': text };
    const { editor } = await openScratchEditor(t, files);
    const all = await editor.plan(rewrite('typescript', 'foo($A)', 'bar($A)'));
    assert.deepEqual(
      all.files.map(({ path }) => path),
      ['a.ts', 'b/c.ts'],
    );
    assert.deepEqual(all.warnings, ['1 matches in generated or vendored files were left alone']);
    const some = await editor.plan(rewrite('typescript', 'foo($A)', 'bar($A)', { paths: ['b/**'] }));
    assert.deepEqual(
      some.files.map(({ path }) => path),
      ['b/c.ts'],
    );
  });

  test('frees every tree and loads without a warning [S0-54]', async (t) => {
    const warnings: string[] = [];
    const listen = ({ message }: Error) => warnings.push(message);
    process.on('warning', listen);
    t.after(() => process.off('warning', listen));
    const { editor } = await openScratchEditor(t, { 'a.ts': 'foo(1);\n' });
    await editor.plan(rewrite('typescript', 'foo($A)', 'bar($A)'));
    const made = t.mock.method(Parser.prototype, 'parse');
    const freed = t.mock.method(Tree.prototype, 'delete');
    const copied = t.mock.method(Tree.prototype, 'copy');
    await editor.plan(rewrite('typescript', 'foo($A)', 'bar($A)'));
    assert.ok(made.mock.callCount() > 5);
    assert.equal(freed.mock.callCount(), made.mock.callCount() + copied.mock.callCount());
    assert.deepEqual(warnings, []);
  });

  const before = 'foo(1);\nfoo(2);\n';
  testRefusal('refuses a pattern that is no code [S0-54]', {
    file: 'a.ts',
    before,
    edit: rewrite('typescript', 'foo(', 'x'),
    reason: 'bad_pattern',
  });
  testRefusal('refuses a variable the pattern does not have [S0-54]', {
    file: 'a.ts',
    before,
    edit: rewrite('typescript', 'foo($A)', '$B'),
    reason: 'unknown_variable',
  });
  testRefusal('refuses a pattern that matches nothing [S0-54]', {
    file: 'a.ts',
    before,
    edit: rewrite('typescript', 'bar($A)', 'x'),
    reason: 'no_match',
  });
  testRefusal('refuses more matches than allowed [S0-54]', {
    file: 'a.ts',
    before,
    edit: rewrite('typescript', 'foo($A)', 'x', { max_matches: 1 }),
    reason: 'too_many_matches',
  });
  testRefusal('refuses a replacement that breaks the file [S0-54]', {
    file: 'a.ts',
    before,
    edit: rewrite('typescript', 'foo($A)', 'x('),
    reason: 'breaks_syntax',
  });
  test('refuses an unknown language [S0-54]', async (t) => {
    const { editor } = await openScratchEditor(t, {});
    await assert.rejects(editor.plan(rewrite('klingon', 'a', 'b')), refusal('unknown_language', 'E_AST_PARSE'));
  });
});
