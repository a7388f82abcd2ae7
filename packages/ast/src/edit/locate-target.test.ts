import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refusal } from '../../test/edit-case.ts';
import { openScratchEditor } from '../../test/scratch-editor.ts';

const FILES = {
  'a.ts':
    'export class A {\n  go() {}\n}\nexport class B {\n  go() {}\n}\nexport function f(one: number) {\n  const two = one;\n  return two + one;\n}\n',
  'b.ts': "import { f } from './a.ts';\nf(1);\n",
  'o.ts':
    'export function g(a: string): void;\nexport function g(a: number): void;\nexport function g(a: unknown) {}\n',
};

describe('targets by place', () => {
  test('a name in a file needs no query before [S0-54]', async (t) => {
    const { edit, read } = await openScratchEditor(t, FILES);
    await edit({ operation: 'rename_symbol', file: 'a.ts', name: 'f', new_name: 'run' });
    assert.equal(read('b.ts'), "import { run } from './a.ts';\nrun(1);\n");
  });

  test('a name that several declarations have is refused with all of them, and taken with its container', async (t) => {
    const { edit, editor, read } = await openScratchEditor(t, FILES);
    const target = { operation: 'delete_symbol', file: 'a.ts', force: true } as const;
    await assert.rejects(editor.plan({ ...target, name: 'go' }), refusal('several_declarations'));
    await edit({ ...target, name: 'B.go' });
    assert.match(read('a.ts'), /class A \{\n {2}go\(\) \{\}/);
    assert.doesNotMatch(read('a.ts'), /class B \{\n {2}go/);
  });

  test('a name that nothing has is refused with the names there are', async (t) => {
    const { editor } = await openScratchEditor(t, FILES);
    const missing = editor.plan({ operation: 'delete_symbol', file: 'a.ts', name: 'nothing' });
    await assert.rejects(missing, refusal('no_such_declaration'));
    await assert.rejects(
      editor.plan({ operation: 'delete_symbol', file: 'a.ts' }),
      ({ code, details }: { code: string; details: { next: string } }) =>
        code === 'E_VALIDATION_FAIL' && details.next.includes('file and name'),
    );
  });

  test('parameters and local variables are renamed by line and column, from declaration or use', async (t) => {
    const { edit, read } = await openScratchEditor(t, FILES);
    await edit({ operation: 'rename_symbol', file: 'a.ts', line: 7, col: 19, new_name: 'first' });
    await edit({ operation: 'rename_symbol', file: 'a.ts', line: 9, col: 10, new_name: 'second' });
    assert.match(read('a.ts'), /f\(first: number\) \{\n {2}const second = first;\n {2}return second \+ first;/);
    assert.equal(read('b.ts'), FILES['b.ts']);
  });

  test('the only local variable or parameter of a name is renamed by its name, several are refused with their places', async (t) => {
    const { edit, editor, read } = await openScratchEditor(t, {
      ...FILES,
      'l.ts': 'function p(x: number) {\n  return x;\n}\nfunction q(x: number) {\n  return x;\n}\n',
    });
    await edit({ operation: 'rename_symbol', file: 'a.ts', name: 'two', new_name: 'three' });
    await edit({ operation: 'rename_symbol', file: 'a.ts', name: 'one', new_name: 'first' });
    assert.match(read('a.ts'), /f\(first: number\) \{\n {2}const three = first;\n {2}return three \+ first;/);
    const both = { operation: 'rename_symbol', file: 'l.ts', name: 'x', new_name: 'y' } as const;
    await assert.rejects(editor.plan(both), (thrown: { details: { candidates: object[] } }) => {
      assert.deepEqual(thrown.details.candidates, [
        { line: 1, col: 12 },
        { line: 4, col: 12 },
      ]);
      return refusal('several_declarations')(thrown);
    });
    await edit({ ...both, line: 4 });
    assert.equal(read('l.ts'), 'function p(x: number) {\n  return x;\n}\nfunction q(y: number) {\n  return y;\n}\n');
    await assert.rejects(
      editor.plan({ operation: 'delete_symbol', file: 'l.ts', name: 'x' }),
      refusal('no_such_declaration'),
    );
  });

  test('a local name that is taken is refused, and no other operation takes locals', async (t) => {
    const { editor } = await openScratchEditor(t, FILES);
    const place = { file: 'a.ts', line: 7, col: 19 };
    const taken = editor.plan({ operation: 'rename_symbol', ...place, new_name: 'two' });
    await assert.rejects(taken, refusal('name_conflict'));
    await assert.rejects(editor.plan({ operation: 'delete_symbol', ...place }), refusal('local_name'));
    await assert.rejects(
      editor.plan({ operation: 'rename_symbol', file: 'a.ts', line: 9, col: 3, new_name: 'x' }),
      refusal('no_such_declaration'),
    );
  });

  test('a rename takes overloads as one name; what changes one of them does not', async (t) => {
    const { edit, editor, read } = await openScratchEditor(t, FILES);
    await assert.rejects(
      editor.plan({ operation: 'set_doc', file: 'o.ts', name: 'g', text: 'Doc.' }),
      refusal('several_declarations'),
    );
    await edit({ operation: 'rename_symbol', file: 'o.ts', name: 'g', new_name: 'h' });
    assert.equal(read('o.ts'), FILES['o.ts'].replaceAll(' g(', ' h('));
  });
});
