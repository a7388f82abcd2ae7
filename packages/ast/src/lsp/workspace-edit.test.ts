import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { readWorkspaceEdit } from './workspace-edit.ts';
import { WorkspaceUris } from './workspace-uris.ts';

const uris = new WorkspaceUris({ root: '/srv/work' });
const uri = (path: string) => uris.toUri(path);

function read(edit: unknown, allowFileOperations = false) {
  const versionOf = (path: string) => (path === 'open.ts' ? 3 : undefined);
  return readWorkspaceEdit(edit, { uris, method: 'textDocument/rename', allowFileOperations, versionOf });
}

const change = (line: number, from: number, to: number, newText = 'x') => ({
  range: { start: { line, character: from }, end: { line, character: to } },
  newText,
});
const flat = (line: number, from: number, to: number, newText = 'x') => ({
  startLine: line,
  startCharacter: from,
  endLine: line,
  endCharacter: to,
  newText,
});
const because = (reason: string) => (thrown: unknown) => isToolError(thrown) && thrown.details['reason'] === reason;
const document = (path: string, edits: unknown[], version: number | null = null) => ({
  textDocument: { uri: uri(path), version },
  edits,
});

describe("a server's workspace edit", () => {
  test('is one table of files, sorted, from both forms [S0-54]', () => {
    const edits = [change(4, 0, 2), change(1, 5, 9)];
    const expected = { files: { 'a.ts': [flat(1, 5, 9), flat(4, 0, 2)] }, operations: [] };
    assert.deepEqual(read({ changes: { [uri('a.ts')]: edits } }), expected);
    assert.deepEqual(read({ documentChanges: [document('a.ts', edits)] }), expected);
    const [first, second] = edits;
    assert.deepEqual(read({ documentChanges: [document('a.ts', [first]), document('a.ts', [second])] }), expected);
    const both = { changes: { [uri('b.ts')]: edits }, documentChanges: [document('a.ts', edits)] };
    assert.deepEqual(read(both), expected, 'documentChanges is the richer form');
  });

  test('keeps insertions at one place in their order and a replacement once [S0-54]', () => {
    const edits = [change(1, 5, 9), change(1, 5, 5, '('), change(1, 5, 5, '('), change(1, 5, 9)];
    assert.deepEqual(read({ changes: { [uri('a.ts')]: edits } }).files['a.ts'], [
      flat(1, 5, 5, '('),
      flat(1, 5, 5, '('),
      flat(1, 5, 9),
    ]);
  });

  test('with overlapping edits is refused, with touching ones accepted [S0-54]', () => {
    const overlapping = { changes: { [uri('a.ts')]: [change(1, 5, 9), change(1, 8, 12)] } };
    assert.throws(() => read(overlapping), because('overlapping_edits'));
    const differing = { changes: { [uri('a.ts')]: [change(1, 5, 9, 'x'), change(1, 5, 9, 'y')] } };
    assert.throws(() => read(differing), because('overlapping_edits'));
    const touching = { changes: { [uri('a.ts')]: [change(1, 5, 9), change(1, 9, 12)] } };
    assert.equal(read(touching).files['a.ts']?.length, 2);
  });

  test('that reaches outside the workspace is refused whole [S0-54]', () => {
    const edit = { changes: { [uri('a.ts')]: [change(1, 5, 9)], 'file:///usr/lib/x.d.ts': [change(1, 5, 9)] } };
    assert.throws(() => read(edit), because('edit_outside_workspace'));
    assert.throws(
      () => read(edit),
      (thrown) => !JSON.stringify((thrown as { message: string }).message).includes('/usr'),
    );
  });

  test('for an older version of an open document is refused [S0-54]', () => {
    assert.throws(() => read({ documentChanges: [document('open.ts', [change(1, 1, 2)], 2)] }), because('stale_edit'));
    const current = { documentChanges: [document('open.ts', [change(1, 1, 2)], 3)] };
    assert.deepEqual(Object.keys(read(current).files), ['open.ts']);
    const unversioned = { documentChanges: [document('open.ts', [change(1, 1, 2)])] };
    assert.deepEqual(Object.keys(read(unversioned).files), ['open.ts']);
  });

  test('that creates, renames or deletes files is refused unless asked for [S0-54]', () => {
    const edit = {
      documentChanges: [
        { kind: 'create', uri: uri('new.ts') },
        document('new.ts', [change(0, 0, 0, 'hello')]),
        document('a.ts', [change(1, 5, 9)]),
        { kind: 'rename', oldUri: uri('a.ts'), newUri: uri('b.ts') },
        { kind: 'delete', uri: uri('c.ts') },
      ],
    };
    assert.throws(() => read(edit), because('file_operations'));
    assert.deepEqual(read(edit, true), {
      files: { 'new.ts': [flat(0, 0, 0, 'hello')], 'a.ts': [flat(1, 5, 9)] },
      operations: [
        { kind: 'create', path: 'new.ts' },
        { kind: 'rename', path: 'a.ts', newPath: 'b.ts' },
        { kind: 'delete', path: 'c.ts' },
      ],
    });
    const late = [{ kind: 'rename', oldUri: uri('a.ts'), newUri: uri('b.ts') }, document('b.ts', [change(1, 5, 9)])];
    assert.throws(() => read({ documentChanges: late }, true), because('file_operations'));
    const outside = [{ kind: 'create', uri: 'file:///etc/cron.d/x' }];
    assert.throws(() => read({ documentChanges: outside }, true), because('edit_outside_workspace'));
  });

  const garbage: readonly unknown[] = [
    7,
    { changes: [] },
    { changes: { [uri('a.ts')]: [{ newText: 'x' }] } },
    { changes: { [uri('a.ts')]: [change(-1, 0, 0)] } },
    { changes: { [uri('a.ts')]: [change(1, 5, 2)] } },
    { changes: { [uri('a.ts')]: [{ ...change(1, 5, 9), newText: 3 }] } },
    { documentChanges: [{ kind: 'format', uri: uri('a.ts') }] },
  ];
  for (const edit of garbage) {
    test(`that is invalid is refused: ${JSON.stringify(edit)}`, () => {
      assert.throws(() => read(edit), because('bad_answer'));
    });
  }
});
