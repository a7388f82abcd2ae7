import { describe } from 'node:test';
import { testEdit, testRefusal } from '../../../test/edit-case.ts';

const doc = (text: string) => ({ operation: 'set_doc', text }) as const;

describe('set_doc', () => {
  testEdit('writes JSDoc on one line [S0-68]', {
    file: 'a.ts',
    target: 'A.run',
    before: 'class A {\n  @log\n  run() {}\n}\n',
    edit: doc('Runs 🚀.'),
    after: 'class A {\n  /** Runs 🚀. */\n  @log\n  run() {}\n}\n',
  });
  testEdit('replaces JSDoc by several lines [S0-68]', {
    file: 'a.ts',
    target: 'f',
    before: '// plain\n\n/** Old. */\nexport function f() {}\n',
    edit: doc('New.\n\nMore.\n'),
    after: '// plain\n\n/**\n * New.\n *\n * More.\n */\nexport function f() {}\n',
  });
  testEdit('replaces rustdoc above attributes [S0-68]', {
    file: 'a.rs',
    target: 'f',
    before: '/// Old\n/// older\n#[inline]\nfn f() {}\n',
    edit: doc('New'),
    after: '/// New\n#[inline]\nfn f() {}\n',
  });
  testEdit('writes a Go doc comment and leaves directives [S0-68]', {
    file: 'a.go',
    target: 'F',
    before: 'package a\n\n//go:noinline\nfunc F() {}\n',
    edit: doc('F is.'),
    after: 'package a\n\n// F is.\n//go:noinline\nfunc F() {}\n',
  });
  testEdit('writes Javadoc [S0-68]', {
    file: 'A.java',
    target: 'A.f',
    before: 'class A {\n\t@Override\n\tint f() {\n\t\treturn 1;\n\t}\n}\n',
    edit: doc('One.\nTwo.'),
    after: 'class A {\n\t/**\n\t * One.\n\t * Two.\n\t */\n\t@Override\n\tint f() {\n\t\treturn 1;\n\t}\n}\n',
  });
  testEdit('writes an XML doc comment [S0-68]', {
    file: 'a.cs',
    target: 'A.F',
    before: 'class A {\n    int F() => 1;\n}\n',
    edit: doc('One.'),
    after: 'class A {\n    /// <summary>\n    /// One.\n    /// </summary>\n    int F() => 1;\n}\n',
  });
  testEdit('writes a docstring [S0-68]', {
    file: 'a.py',
    target: 'A.f',
    before: 'class A:\n    def f(self):\n        return 1\n',
    edit: doc('Matches \\d é.'),
    after: 'class A:\n    def f(self):\n        r"""Matches \\d é."""\n        return 1\n',
  });
  testEdit('replaces a docstring [S0-68]', {
    file: 'a.py',
    target: 'A',
    before: "class A:\n    '''Old\n    one.'''\n\n    x = 1\n",
    edit: doc('New.\n\n  Indented.'),
    after: 'class A:\n    """New.\n\n      Indented.\n    """\n\n    x = 1\n',
  });
  testEdit('opens a Python body for it [S0-68]', {
    file: 'a.py',
    target: 'f',
    before: 'def f(): return 1\n',
    edit: doc('Says "one"'),
    after: 'def f():\n    """Says "one" """\n    return 1\n',
  });
  testRefusal('refuses words that end the comment [S0-68]', {
    file: 'a.ts',
    target: 'f',
    before: 'function f() {}\n',
    edit: doc('a */ b'),
    reason: 'invalid_doc',
  });
  testRefusal('refuses quotes that end the docstring [S0-68]', {
    file: 'a.py',
    target: 'f',
    before: 'def f():\n    pass\n',
    edit: doc('a """ b'),
    reason: 'invalid_doc',
  });
});
