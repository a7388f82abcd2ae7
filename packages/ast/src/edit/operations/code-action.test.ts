import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { refusal } from '../../../test/edit-case.ts';
import { openScratchEditor } from '../../../test/scratch-editor.ts';
import { openScratchServers, scripted } from '../../../test/scratch-servers.ts';

const range = (line: number, character: number, end = character) => ({
  start: { line, character },
  end: { line, character: end },
});
const changes = (path: string, newText: string, at = range(0, 0)) => ({
  changes: { [`@uri:${path}`]: [{ range: at, newText }] },
});
const ACTIONS = [
  { title: 'Extract', kind: 'refactor.extract', edit: changes('a.ts', '/* é */ ', range(0, 0)) },
  { title: 'Broken', kind: 'refactor.inline', edit: changes('a.ts', '{{{') },
  { title: 'Twice', kind: 'quickfix', edit: changes('a.ts', '1;') },
  { title: 'Twice', kind: 'quickfix', edit: changes('a.ts', '2;') },
  { title: 'Off', kind: 'source', disabled: { reason: 'not now' } },
  {
    title: 'New file',
    kind: 'refactor.move',
    edit: {
      documentChanges: [
        { kind: 'create', uri: '@uri:n.ts' },
        {
          textDocument: { uri: '@uri:n.ts', version: null },
          edits: [{ range: range(0, 0), newText: 'const n = 1;\n' }],
        },
      ],
    },
  },
  { title: 'Remove file', kind: 'refactor.move', edit: { documentChanges: [{ kind: 'delete', uri: '@uri:a.ts' }] } },
];

async function open(t: TestContext) {
  const files = { 'a.ts': '\ufefffunction f() {}\n' };
  const on = { 'textDocument/codeAction': [[{ answer: ACTIONS }]] };
  const provider = scripted(
    { on, capabilities: { codeActionProvider: true } },
    { documents: { '.ts': 'typescript' }, languages: ['typescript'] },
  );
  const servers = openScratchServers(t, { files, providers: [provider] });
  return openScratchEditor(t, {}, { root: servers.root, servers: servers.manager });
}

const act = (title: string) => ({ operation: 'code_action', file: 'a.ts', title }) as const;

describe('code_action', () => {
  test('lists what the server offers [S0-54]', async (t) => {
    const { editor, id } = await open(t);
    const listed = await editor.codeActions({ target_node_id: await id('f') });
    assert.equal(listed.length, 7);
    assert.deepEqual(listed[4], { title: 'Off', kind: 'source', preferred: false, disabled: 'not now' });
  });

  test('applies one through the same checks [S0-54]', async (t) => {
    const scratch = await open(t);
    const answer = await scratch.edit(act('Extract'));
    assert.equal(scratch.read('a.ts'), '\ufeff/* é */ function f() {}\n');
    assert.equal(answer.confidence, 'server');
    await assert.rejects(scratch.editor.plan(act('Broken')), refusal('breaks_syntax'));
  });

  test('creates files, and refuses to remove them [S0-54]', async (t) => {
    const scratch = await open(t);
    await scratch.edit(act('New file'));
    assert.equal(scratch.read('n.ts'), 'const n = 1;\n');
    await assert.rejects(scratch.editor.plan(act('Remove file')), refusal('file_operations'));
  });

  test('never guesses which one is meant [S0-54]', async (t) => {
    const { editor } = await open(t);
    await assert.rejects(editor.plan(act('Twice')), refusal('ambiguous_action'));
    await assert.rejects(editor.plan(act('Nothing')), refusal('no_such_action'));
    await assert.rejects(editor.plan(act('Off')), refusal('action_disabled'));
  });

  test('answers E_POLICY without a server for the file [S0-54]', async (t) => {
    const { editor } = await openScratchEditor(t, { 'a.ts': '' });
    await assert.rejects(editor.plan(act('Extract')), refusal('not_configured', 'E_POLICY'));
  });
});
