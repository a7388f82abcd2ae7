import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { refusal } from '../../test/edit-case.ts';
import { openScratchEditor } from '../../test/scratch-editor.ts';
import type { EditRequest } from './edit-operations.ts';

const candidateOf = (thrown: unknown) =>
  isToolError(thrown) ? (thrown.details['candidate'] as { id: string } | undefined) : undefined;
const replace = (target_node_id: string, text: string) =>
  ({ operation: 'replace_body', target_node_id, text }) as const;

describe('the editor', () => {
  test('answers E_AST_EDIT for an unknown operation, in a batch too [S0-54]', async (t) => {
    const { editor } = await openScratchEditor(t, {});
    const made = { operation: 'explode', target_node_id: 'n1' } as unknown as EditRequest;
    await assert.rejects(editor.plan(made), refusal('unknown_operation'));
    const batch = { operation: 'batch', operations: [made] } as unknown as EditRequest;
    await assert.rejects(editor.plan(batch), refusal('unknown_operation'));
  });

  test('answers E_VALIDATION_FAIL for wrong and unknown arguments [S0-54]', async (t) => {
    const { editor } = await openScratchEditor(t, {});
    for (const wrong of [
      { target_node_id: 'n1' },
      { target_node_id: 'n1', text: 'x', made_up: 1 },
      { target_node_id: 7, text: 'x' },
    ]) {
      const request = { operation: 'replace_body', ...wrong } as unknown as EditRequest;
      await assert.rejects(editor.plan(request), refusal('wrong_arguments', 'E_VALIDATION_FAIL'));
    }
  });

  test('answers stale_node for an id that names nothing [S0-54]', async (t) => {
    const { editor } = await openScratchEditor(t, { 'a.ts': 'function f() {}\n' });
    await assert.rejects(editor.plan(replace('nabcdefghijkl', 'x')), (thrown) => {
      assert.equal(candidateOf(thrown), undefined);
      return refusal('stale_node')(thrown);
    });
  });

  test('names the candidate when the declaration went to another file [S0-54]', async (t) => {
    const { editor, id, write, index } = await openScratchEditor(t, { 'a.ts': 'function f() {}\n', 'b.ts': '' });
    const old = await id('f');
    editor.remember((await index.query({ name_like: 'f' })).nodes);
    write('a.ts', '');
    write('b.ts', 'function f() {}\n');
    await assert.rejects(editor.plan(replace(old, 'x')), (thrown) => refusal('stale_node')(thrown));
    const fresh = await id('f');
    await assert.rejects(editor.plan(replace(old, 'x')), (thrown) => {
      assert.equal(candidateOf(thrown)?.id, fresh);
      return refusal('stale_node')(thrown);
    });
  });

  test('keeps an id through changes elsewhere in the file [S0-54]', async (t) => {
    const { editor, id, write } = await openScratchEditor(t, { 'a.ts': 'function f() { 1; }\n' });
    const known = await id('f');
    write('a.ts', '// new\nconst x = 1;\nfunction f() { 1; }\n');
    const plan = await editor.plan(replace(known, '2;'));
    assert.equal(Buffer.from(plan.files[0]?.after ?? '').toString(), '// new\nconst x = 1;\nfunction f() { 2; }\n');
  });

  test('answers stale_node when the declaration is not the expected one [S0-54]', async (t) => {
    const { editor, index, write } = await openScratchEditor(t, { 'a.ts': 'function f() { 1; }\n' });
    const [node] = (await index.query({ name_like: 'f' })).nodes;
    const request = { ...replace(node?.id ?? '', '2;'), expected_rev: node?.rev ?? '' };
    await editor.plan(request);
    write('a.ts', 'function f() { 3; }\n');
    await assert.rejects(editor.plan(request), (thrown) => {
      assert.equal(candidateOf(thrown)?.id, node?.id);
      return refusal('stale_node')(thrown);
    });
  });

  test('answers stale_node when twins changed at once [S0-54]', async (t) => {
    const {
      editor,
      index,
      write,
      id: _id,
    } = await openScratchEditor(t, { 'a.py': 'def f():\n    1\n\n\ndef f():\n    2\n' });
    const [first] = (await index.query({ name_like: 'f' })).nodes;
    write('a.py', 'def f():\n    3\n\n\ndef f():\n    4\n');
    await assert.rejects(editor.plan(replace(first?.id ?? '', 'x')), refusal('stale_node'));
  });

  test('tells twins apart and keeps their ids [S0-54]', async (t) => {
    const { editor, index, workspace } = await openScratchEditor(t, {
      'a.py': 'def f():\n    1\n\n\ndef f():\n    2\n',
    });
    const second = (await index.query({ name_like: 'f' })).nodes[1]?.id ?? '';
    await editor.apply(await editor.plan(replace(second, 'return 3')), workspace);
    const found = await index.nodeById(second);
    assert.equal(found?.node.line, 5);
  });

  test('answers no_such_file and unknown_language for files it cannot edit [S0-54]', async (t) => {
    const { editor } = await openScratchEditor(t, { 'a.bin': 'x' });
    const add = (file: string) => ({ operation: 'add_import', file, source: 'x' }) as const;
    await assert.rejects(editor.plan(add('nowhere.ts')), refusal('no_such_file'));
    await assert.rejects(editor.plan(add('../outside.ts')), refusal('no_such_file'));
    await assert.rejects(editor.plan(add('a.bin')), refusal('unknown_language'));
  });

  test('a file that is not UTF-8 takes ASCII only, and its other bytes stay', async (t) => {
    const before = Buffer.concat([Buffer.from('// caf'), Buffer.from([0xe9]), Buffer.from('\nfunction f() { 1; }\n')]);
    const { editor, id, workspace, bytes } = await openScratchEditor(t, { 'a.ts': before });
    await assert.rejects(editor.plan(replace(await id('f'), '"é";')), refusal('not_utf8'));
    await editor.apply(await editor.plan(replace(await id('f'), '2;')), workspace);
    assert.deepEqual(bytes('a.ts'), Buffer.from(before.toString('latin1').replace('1;', '2;'), 'latin1'));
  });
});

describe('a batch', () => {
  const FILES = { 'a.ts': 'export function f() {\n  return 1;\n}\n', 'b.ts': "import { f } from './a.ts';\nf();\n" };

  test('resolves ids at the start and carries out operations one after the other [S0-54]', async (t) => {
    const scratch = await openScratchEditor(t, FILES);
    const target_node_id = await scratch.id('f', { type: 'fn' });
    const answer = await scratch.edit({
      operation: 'batch',
      operations: [
        { operation: 'rename_symbol', target_node_id, new_name: 'g' },
        { operation: 'replace_body', target_node_id, text: 'return g;' },
        { operation: 'set_doc', target_node_id, text: 'Doc.' },
        { operation: 'rename_symbol', target_node_id, new_name: 'h' },
        { operation: 'add_import', file: 'b.ts', source: './c.ts', name: 'c' },
      ],
    });
    assert.equal(scratch.read('a.ts'), '/** Doc. */\nexport function h() {\n  return h;\n}\n');
    assert.equal(scratch.read('b.ts'), "import { h } from './a.ts';\nimport { c } from './c.ts';\nh();\n");
    assert.deepEqual(answer.renamed_ids, { [target_node_id]: await scratch.id('h', { type: 'fn' }) });
    assert.equal(answer.confidence, 'resolver');
  });

  test('does nothing when one operation is refused [S0-54]', async (t) => {
    const scratch = await openScratchEditor(t, FILES);
    const before = scratch.snapshot();
    const target_node_id = await scratch.id('f', { type: 'fn' });
    const operations = [
      { operation: 'set_doc', target_node_id, text: 'Doc.' },
      { operation: 'replace_body', target_node_id, text: 'if (' },
    ] as const;
    await assert.rejects(
      scratch.editor.plan({ operation: 'batch', operations: [...operations] }),
      refusal('breaks_syntax'),
    );
    assert.deepEqual(scratch.snapshot(), before);
  });

  test('refuses an operation on what an earlier one removed [S0-54]', async (t) => {
    const scratch = await openScratchEditor(t, { 'a.ts': 'function f() {}\nfunction g() {}\n' });
    const [f, g] = [await scratch.id('f'), await scratch.id('g')];
    const batch = (target_node_id: string): EditRequest => ({
      operation: 'batch',
      operations: [
        { operation: 'delete_symbol', target_node_id: f },
        { operation: 'insert_after', target_node_id: g, text: 'function f() {}' },
        { operation: 'set_doc', target_node_id, text: 'Doc.' },
      ],
    });
    await assert.rejects(scratch.editor.plan(batch(f)), refusal('stale_node'));
    await scratch.editor.plan(batch(g));
  });

  test('follows what moved to another file [S0-54]', async (t) => {
    const scratch = await openScratchEditor(t, { 'a.ts': 'export function f() {}\nexport const k = 1;\n' });
    const target_node_id = await scratch.id('f');
    await scratch.edit({
      operation: 'batch',
      operations: [
        { operation: 'move_symbol', target_node_id, to_file: 'n.ts' },
        { operation: 'rename_symbol', target_node_id, new_name: 'g' },
      ],
    });
    assert.equal(scratch.read('n.ts'), 'export function g() {}\n');
    assert.equal(scratch.read('a.ts'), 'export const k = 1;\n');
  });
});
