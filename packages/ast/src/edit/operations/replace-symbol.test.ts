import { describe } from 'node:test';
import { testEdit, testRefusal } from '../../../test/edit-case.ts';

const whole = (text: string, more: { include_doc?: boolean; allow_rename?: boolean } = {}) =>
  ({ operation: 'replace_symbol', text, ...more }) as const;

const TS = 'class A {\n  /** Old. */\n  run() {\n    return 1;\n  }\n\n  x = 1;\n}\n';

describe('replace_symbol', () => {
  testEdit('replaces the declaration and leaves its doc [S0-54]', {
    file: 'a.ts',
    target: 'A.run',
    before: TS,
    edit: whole('async run(): Promise<number> {\n  return 2;\n}'),
    after: 'class A {\n  /** Old. */\n  async run(): Promise<number> {\n    return 2;\n  }\n\n  x = 1;\n}\n',
  });
  testEdit('replaces the doc too when asked [S0-54]', {
    file: 'a.ts',
    target: 'A.run',
    before: TS,
    edit: whole('/** New. */\nrun() {}', { include_doc: true }),
    after: 'class A {\n  /** New. */\n  run() {}\n\n  x = 1;\n}\n',
  });
  testEdit('takes an attribute for a declaration that has a doc [S0-54]', {
    file: 'a.rs',
    target: 'f',
    before: '/// Old\nfn f() {}\n',
    edit: whole('#[inline]\nfn f() { 1; }'),
    after: '/// Old\n#[inline]\nfn f() { 1; }\n',
  });
  testEdit('may change the name when allowed [S0-54]', {
    file: 'a.py',
    target: 'f',
    before: 'def f():\n    return 1\n\n\ny = 2\n',
    edit: whole('def g():\n    return 2', { allow_rename: true }),
    after: 'def g():\n    return 2\n\n\ny = 2\n',
  });
  testEdit('takes overloads of the same name [S0-54]', {
    file: 'a.ts',
    target: 'f',
    before: 'export function f() {}\n',
    edit: whole('export function f(a: string): void;\nexport function f(a: any) {}'),
    after: 'export function f(a: string): void;\nexport function f(a: any) {}\n',
  });
  testEdit('works in Go and Java: Go [S0-54]', {
    file: 'a.go',
    target: 'S',
    before: 'package a\n\n// S is.\ntype S struct {\n\tA int\n}\n',
    edit: whole('type S struct {\n    B string\n}'),
    after: 'package a\n\n// S is.\ntype S struct {\n\tB string\n}\n',
  });
  testEdit('works in Go and Java: Java [S0-54]', {
    file: 'A.java',
    target: 'A.f',
    before: 'class A {\n\t@Override\n\tint f() {\n\t\treturn 1;\n\t}\n}\n',
    edit: whole('long f() {\n  return 2;\n}'),
    after: 'class A {\n\t@Override\n\tlong f() {\n\t\treturn 2;\n\t}\n}\n',
  });
  testRefusal('refuses text that declares another name [S0-54]', {
    file: 'a.ts',
    target: 'A.run',
    before: TS,
    edit: whole('walk() {}'),
    reason: 'declares_other_name',
  });
  testRefusal('refuses text that brings something along [S0-54]', {
    file: 'a.ts',
    target: 'A.run',
    before: TS,
    edit: whole('walk() {}\nrun() {}'),
    reason: 'declares_other_name',
  });
  testRefusal('refuses text that declares nothing [S0-54]', {
    file: 'a.py',
    target: 'f',
    before: 'def f():\n    return 1\n',
    edit: whole('print(1)'),
    reason: 'declares_nothing',
  });
  testRefusal('refuses a second doc comment [S0-54]', {
    file: 'a.ts',
    target: 'A.run',
    before: TS,
    edit: whole('/** New. */\nrun() {}'),
    reason: 'doubled_doc',
  });
  testRefusal('refuses text that swallows what follows [S0-54]', {
    file: 'a.py',
    target: 'f',
    before: 'def f():\n    return 1\n\n\ndef g():\n    pass\n',
    edit: whole('def f():\n    return """'),
    reason: 'breaks_syntax',
  });
});
