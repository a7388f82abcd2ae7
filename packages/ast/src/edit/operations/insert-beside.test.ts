import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testEdit, testRefusal } from '../../../test/edit-case.ts';
import { openScratchEditor } from '../../../test/scratch-editor.ts';

const before = (text: string) => ({ operation: 'insert_before', text }) as const;
const after = (text: string) => ({ operation: 'insert_after', text }) as const;

const PY =
  'class A:\n    """Doc."""\n\n    @x\n    def a(self):\n        pass\n\n\ndef b():\n    pass\n\n\ndef c():\n    pass\n';

describe('insert_before and insert_after', () => {
  testEdit('stay outside of docs, attributes and comments [S0-54]', {
    file: 'a.rs',
    target: 'f',
    before: 'fn a() {}\n\n// About f.\n/// Doc\n#[inline]\nfn f() {\n    1;\n} // end\n\nfn z() {\n}\n',
    edit: before('fn n() {\n  2;\n}'),
    after:
      'fn a() {}\n\nfn n() {\n  2;\n}\n\n// About f.\n/// Doc\n#[inline]\nfn f() {\n    1;\n} // end\n\nfn z() {\n}\n',
  });
  testEdit('go behind a comment at the end of the line [S0-54]', {
    file: 'a.rs',
    target: 'f',
    before: 'fn f() {\n    1;\n} // end 🚀\n\nfn z() {\n}\n',
    edit: after('fn n() {\n    2;\n}'),
    after: 'fn f() {\n    1;\n} // end 🚀\n\nfn n() {\n    2;\n}\n\nfn z() {\n}\n',
  });
  testEdit('leave as many blank lines as the file does [S0-54]', {
    file: 'a.py',
    target: 'b',
    before: PY,
    edit: after('def n():\n    return 1'),
    after: PY.replace('\n\n\ndef c', '\n\n\ndef n():\n    return 1\n\n\ndef c'),
  });
  testEdit('indent like the container [S0-54]', {
    file: 'a.py',
    target: 'A.a',
    before: PY,
    edit: before('def n(self):\n    return 1'),
    after: PY.replace('    @x', '    def n(self):\n        return 1\n\n    @x'),
  });
  testEdit('keep small declarations together [S0-54]', {
    file: 'a.go',
    target: 'S.A',
    before: 'package a\n\ntype S struct {\n\tA int\n\tC int\n}\n',
    edit: after('B string'),
    after: 'package a\n\ntype S struct {\n\tA int\n\tB string\n\tC int\n}\n',
  });
  testEdit('add the comma that a list needs [S0-54]', {
    file: 'a.ts',
    target: 'E.B',
    before: 'enum E {\n  A,\n  B\n}\n',
    edit: after('C'),
    after: 'enum E {\n  A,\n  B,\n  C\n}\n',
  });
  testEdit('work on one line [S0-54]', {
    file: 'a.rs',
    target: 'E.A',
    before: 'enum E { A, B }\n',
    edit: before('Z'),
    after: 'enum E { Z, A, B }\n',
  });
  testEdit('work in Java with tabs [S0-54]', {
    file: 'A.java',
    target: 'A.f',
    before: 'class A {\n\tint f() {\n\t\treturn 1;\n\t}\n}\n',
    edit: after('int g() {\n    return 2;\n}'),
    after: 'class A {\n\tint f() {\n\t\treturn 1;\n\t}\n\n\tint g() {\n\t\treturn 2;\n\t}\n}\n',
  });
  testRefusal('refuse text that does not fit there [S0-54]', {
    file: 'a.ts',
    target: 'A.x',
    before: 'class A {\n  x = 1;\n}\n',
    edit: after('return 1 +'),
    reason: 'breaks_syntax',
  });
  testRefusal('refuse text that swallows what follows [S0-54]', {
    file: 'a.ts',
    target: 'f',
    before: 'function f() {}\nfunction g() {}\n/* end */\n',
    edit: after('/* open'),
    reason: 'swallows_declarations',
  });

  test('warn when the name is declared twice then [S0-54]', async (t) => {
    const { editor, id } = await openScratchEditor(t, { 'a.py': 'def f():\n    pass\n' });
    const insert = (text: string) => id('f').then((target_node_id) => editor.plan({ ...after(text), target_node_id }));
    assert.deepEqual((await insert('def f():\n    return 1')).warnings, ['declared twice now: f in a.py']);
    assert.deepEqual((await insert('def g():\n    return 1')).warnings, []);
  });
});
