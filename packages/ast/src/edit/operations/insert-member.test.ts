import { describe } from 'node:test';
import { testEdit, testRefusal } from '../../../test/edit-case.ts';

const member = (text: string, position: 'first' | 'last' = 'last') =>
  ({ operation: 'insert_member', text, position }) as const;

const PY =
  'class A:\n    """Doc."""\n\n    @x\n    def a(self):\n        pass\n\n\ndef b():\n    pass\n\n\ndef c():\n    pass\n';

describe('insert_member', () => {
  const TS = 'export class A {\n  x = 1;\n\n  run() {\n    return 1;\n  }\n}\n';
  testEdit('adds the last member [S0-54]', {
    file: 'a.ts',
    target: 'A',
    before: TS,
    edit: member('/** Stops. */\nstop() {\n  return 2;\n}'),
    after: TS.replace('  }\n}', '  }\n\n  /** Stops. */\n  stop() {\n    return 2;\n  }\n}'),
  });
  testEdit('adds the first member [S0-54]', {
    file: 'a.ts',
    target: 'A',
    before: TS,
    edit: member('y = 2;', 'first'),
    after: TS.replace('  x', '  y = 2;\n  x'),
  });
  testEdit('puts the first member below a docstring [S0-54]', {
    file: 'a.py',
    target: 'A',
    before: PY,
    edit: member('y = 1', 'first'),
    after: PY.replace('    @x', '    y = 1\n\n    @x'),
  });
  testEdit('replaces the placeholder of an empty Python class [S0-54]', {
    file: 'a.py',
    target: 'A',
    before: 'class A:\n    pass\n\n\nx = 1\n',
    edit: member('def f(self):\n    return 1'),
    after: 'class A:\n    def f(self):\n        return 1\n\n\nx = 1\n',
  });
  testEdit('opens empty brackets [S0-54]', {
    file: 'A.java',
    target: 'A',
    before: 'class A {}\n',
    edit: member('int f() {\n    return 1;\n}'),
    after: 'class A {\n    int f() {\n        return 1;\n    }\n}\n',
  });
  testEdit('joins a list with a trailing comma [S0-54]', {
    file: 'a.rs',
    target: 'E',
    before: 'enum E {\n    A,\n    B(i32),\n}\n',
    edit: member('C { x: i32 }'),
    after: 'enum E {\n    A,\n    B(i32),\n    C { x: i32 },\n}\n',
  });
  testEdit('joins a list without one [S0-54]', {
    file: 'a.ts',
    target: 'E',
    before: 'enum E { A }\n',
    edit: member('B'),
    after: 'enum E { A, B }\n',
  });
  testEdit('adds to a Go interface [S0-54]', {
    file: 'a.go',
    target: 'I',
    before: 'package a\n\ntype I interface {\n\tA() int\n}\n',
    edit: member('B() string'),
    after: 'package a\n\ntype I interface {\n\tA() int\n\tB() string\n}\n',
  });
  testRefusal('refuses a declaration that has no members [S0-54]', {
    file: 'a.ts',
    target: 'f',
    before: 'function f() {}\n',
    edit: member('x = 1;'),
    reason: 'no_container',
  });
  testRefusal('refuses text that declares nothing [S0-54]', {
    file: 'a.py',
    target: 'A',
    before: 'class A:\n    def f(self):\n        pass\n',
    edit: member('print(1)'),
    reason: 'declares_nothing',
  });
});
