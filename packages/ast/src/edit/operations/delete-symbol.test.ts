import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refusal, testEdit, testRefusal } from '../../../test/edit-case.ts';
import { openScratchEditor } from '../../../test/scratch-editor.ts';

const gone = { operation: 'delete_symbol' } as const;
const TS =
  '/** A. */\nexport function a() {\n  return a;\n}\n\n// note\nconst p = 1,\n  q = 2;\n\n/** B 🚀. */\n@x\nclass B {\n  one() {}\n\n  /** Two. */\n  two() {}\n}\n';

describe('delete_symbol', () => {
  testEdit('takes doc and blank lines along [S0-54]', {
    file: 'a.ts',
    target: 'a',
    before: TS,
    edit: gone,
    after: TS.slice(TS.indexOf('// note')),
  });
  testEdit('takes attributes along [S0-54]', {
    file: 'a.ts',
    target: 'B',
    before: TS,
    edit: gone,
    after: TS.slice(0, TS.indexOf('\n/** B')),
  });
  testEdit('takes one of several declarators [S0-54]', {
    file: 'a.ts',
    target: 'q',
    before: TS,
    edit: gone,
    after: TS.replace(',\n  q = 2', ''),
  });
  testEdit('takes the last member and the gap above [S0-54]', {
    file: 'a.ts',
    target: 'B.two',
    before: TS,
    edit: gone,
    after: TS.replace('\n\n  /** Two. */\n  two() {}', ''),
  });
  testEdit('leaves a placeholder in a Python body [S0-54]', {
    file: 'a.py',
    target: 'A.f',
    before: 'class A:\n    @x\n    def f(self):\n        return 1\n\n\ny = 2\n',
    edit: gone,
    after: 'class A:\n    pass\n\n\ny = 2\n',
  });
  testEdit('works in Rust [S0-54]', {
    file: 'a.rs',
    target: 'f',
    before: 'fn a() {}\n\n/// Doc\n#[inline]\nfn f() {}\n\nfn z() {}\n',
    edit: gone,
    after: 'fn a() {}\n\nfn z() {}\n',
  });
  testEdit('works in Go [S0-54]', {
    file: 'a.go',
    target: 'B',
    before: 'package a\n\nconst (\n\tA = 1\n\tB = 2\n)\n',
    edit: gone,
    after: 'package a\n\nconst (\n\tA = 1\n)\n',
  });
  testRefusal('keeps the neighbour in a Go list', {
    file: 'a.go',
    target: 'p',
    before: 'package a\n\nconst p, q = 3, 4\n',
    edit: gone,
    reason: 'list_declaration',
  });
  testEdit('works in Java [S0-54]', {
    file: 'A.java',
    target: 'A.f',
    before: 'class A {\n\tint f() {\n\t\treturn f();\n\t}\n\n\tint g;\n}\n',
    edit: gone,
    after: 'class A {\n\tint g;\n}\n',
  });

  test('says where a string or a page may mean what was deleted', async (t) => {
    const files = {
      'a.ts': 'export function only() {}\nexport function other() {}\n',
      'b.ts': "const name = 'only';\n",
      'page.html': '<p title="only">x</p>\n',
    };
    const { editor, id } = await openScratchEditor(t, files);
    const plan = await editor.plan({ operation: 'delete_symbol', target_node_id: await id('only') });
    assert.match(plan.warnings.join(), /also in 2 strings, which may mean it, the first: b\.ts:1/);
    const clean = await editor.plan({ operation: 'delete_symbol', target_node_id: await id('other') });
    assert.deepEqual(clean.warnings, []);
  });

  test('refuses what the handler of a page calls or Python looks up by name, until it is forced', async (t) => {
    const files = {
      'a.ts': 'export function only() {}\nexport function titled() {}\n',
      'page.html': '<button class="b"\n  onclick="event.x; only()" title="titled">x</button>\n',
      'b.py': 'def load():\n    pass\n',
      'c.py': 'import b\ngetattr(b, "load")()\n',
    };
    const { editor, id } = await openScratchEditor(t, files);
    for (const name of ['only', 'load']) {
      const target = { ...gone, target_node_id: await id(name) };
      await assert.rejects(editor.plan(target), refusal('maybe_used'));
      assert.equal((await editor.plan({ ...target, force: true })).files.length, 1);
    }
    assert.equal((await editor.plan({ ...gone, target_node_id: await id('titled') })).files.length, 1);
  });

  test('says that a file did not parse before and does not now', async (t) => {
    const { editor, id } = await openScratchEditor(t, {
      'a.rs': 'fn ok() {}\n\nfn two() {}\n\nfn broken( { let x = ;\n',
    });
    const plan = await editor.plan({ operation: 'delete_symbol', target_node_id: await id('two'), force: true });
    assert.match(plan.warnings.join(), /a\.rs does not parse, and did not before: line \d+/);
  });

  test('refuses a default export that another file imports under another name', async (t) => {
    const files = {
      'a.ts': 'export default function main() {}\n',
      'b.ts': "import m from './a.ts';\nm();\n",
      'c.ts': 'export default function alone() {}\n',
    };
    const { editor, id } = await openScratchEditor(t, files);
    await assert.rejects(editor.plan({ ...gone, target_node_id: await id('main') }), refusal('still_used'));
    const plan = await editor.plan({ ...gone, target_node_id: await id('alone') });
    assert.deepEqual(
      plan.files.map(({ path }) => path),
      ['c.ts'],
    );
  });

  test('refuses while another file uses it, and does it when forced [S0-54]', async (t) => {
    const files = { 'a.ts': 'export const a = 1;\nexport const b = 2;\n', 'b.ts': "import { a } from './a.ts';\n" };
    const { editor, id } = await openScratchEditor(t, files);
    const target_node_id = await id('a');
    await assert.rejects(editor.plan({ ...gone, target_node_id }), refusal('still_used'));
    const plan = await editor.plan({ ...gone, target_node_id, force: true });
    assert.equal(Buffer.from(plan.files[0]?.after ?? '').toString(), 'export const b = 2;\n');
    assert.match(plan.warnings[0] ?? '', /the first: b\.ts:1/);
    await editor.plan({ ...gone, target_node_id: await id('b') });
  });

  test('refuses a member when anything bears its name, and takes one that nothing does [S0-54]', async (t) => {
    const files = { 'a.ts': 'export class A {\n  run() {}\n  walk() {}\n}\n', 'b.ts': 'other.run(); // walk\n' };
    const { editor, id } = await openScratchEditor(t, files);
    await assert.rejects(editor.plan({ ...gone, target_node_id: await id('run') }), refusal('maybe_used'));
    await editor.plan({ ...gone, target_node_id: await id('walk') });
  });

  testRefusal('refuses one name of a destructuring [S0-54]', {
    file: 'a.ts',
    target: 'a',
    before: 'const { a, b } = c;\n',
    edit: gone,
    reason: 'list_declaration',
  });
  testRefusal('refuses one of several names with several values [S0-54]', {
    file: 'a.go',
    target: 'a',
    before: 'package a\n\nvar a, b = 1, 2\n',
    edit: gone,
    reason: 'list_declaration',
  });
  testRefusal('refuses a constant that others count on from [S0-54]', {
    file: 'a.go',
    target: 'A',
    before: 'package a\n\nconst (\n\tA = iota\n\tB\n)\n',
    edit: gone,
    reason: 'list_declaration',
  });
  testRefusal('refuses a variant that others count on from [S0-54]', {
    file: 'a.c',
    target: 'E.A',
    before: 'enum E { A, B };\n',
    edit: gone,
    reason: 'list_declaration',
  });
});
