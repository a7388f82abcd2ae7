import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Diagnostic, DiagnosticStore, newDiagnostics, readDiagnostics } from './diagnostic-store.ts';
import { WorkspaceUris } from './workspace-uris.ts';

const uris = new WorkspaceUris({ root: '/srv/work' });
const range = { start: { line: 1, character: 2 }, end: { line: 1, character: 4 } };

describe('diagnostics a server pushes', () => {
  test('count only for a version not older than ours', () => {
    const store = new DiagnosticStore(uris, (path) => (path === 'a.ts' ? 5 : undefined));
    const push = (path: string, version?: number) =>
      store.accept({ uri: uris.toUri(path), version, diagnostics: [{ range, message: `v${version}` }] });
    assert.equal(push('a.ts', 4), false);
    assert.equal(store.raw('a.ts'), undefined);
    assert.equal(push('a.ts', 5), true);
    assert.equal(push('a.ts', 6), true);
    assert.equal(push('a.ts'), true);
    assert.equal(push('closed.ts', 1), true);
    store.forget('a.ts');
    assert.equal(store.raw('a.ts'), undefined);
  });

  test('for files outside, and garbage, are not taken in', () => {
    const store = new DiagnosticStore(uris, () => undefined);
    assert.equal(store.accept({ uri: 'file:///usr/lib/x.py', diagnostics: [] }), false);
    for (const params of [undefined, null, 7, {}, { uri: uris.toUri('a.ts') }, { uri: 1, diagnostics: [] }]) {
      assert.equal(store.accept(params), false);
    }
  });

  test('are read item by item, without places of the host', () => {
    const items = [
      { range, severity: 2, code: 2322, source: 'ts', message: 'in /srv/work/a.ts' },
      { range, message: { kind: 'markdown', value: 'marked' } },
      { range, code: '/srv/work/rules/7', source: 'file:///srv/work/lint.js', message: 'strict' },
      { message: 'nowhere' },
    ];
    const place = { startLine: 1, startCharacter: 2, endLine: 1, endCharacter: 4 };
    assert.deepEqual(readDiagnostics(items, uris), [
      { ...place, severity: 'warning', code: '2322', source: 'ts', message: 'in a.ts' },
      { ...place, severity: 'error', message: 'marked' },
      { ...place, severity: 'error', code: 'rules/7', source: 'lint.js', message: 'strict' },
    ]);
  });
});

test('new diagnostics are those that were not there before, however lines moved', () => {
  const at = (startLine: number, message: string): Diagnostic => ({
    startLine,
    startCharacter: 0,
    endLine: startLine,
    endCharacter: 1,
    severity: 'error',
    message,
  });
  const before = [at(1, 'a'), at(2, 'b'), at(3, 'b')];
  const after = [at(11, 'a'), at(12, 'b'), at(13, 'b'), at(14, 'b'), at(15, 'c')];
  assert.deepEqual(newDiagnostics(before, after), [at(14, 'b'), at(15, 'c')]);
  assert.deepEqual(newDiagnostics(after, before), []);
});
