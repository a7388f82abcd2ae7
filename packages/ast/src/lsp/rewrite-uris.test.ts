import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { KeptValues } from './kept-values.ts';
import { revealAnswer, sealParams } from './rewrite-uris.ts';
import { WorkspaceUris } from './workspace-uris.ts';

function translation() {
  return { uris: new WorkspaceUris({ root: '/srv/work' }), kept: new KeptValues(1) };
}

const hasCode = (code: string) => (thrown: unknown) => isToolError(thrown) && thrown.code === code;

describe('parameters and answers with their file names translated', () => {
  test('parameters name files by path or by URI below the root [S0-56]', () => {
    const given = {
      textDocument: { uri: 'src/a.ts' },
      item: [{ uri: 'file:///srv/work/b.ts' }],
      position: { line: 1 },
    };
    assert.deepEqual(sealParams(given, translation()), {
      params: {
        textDocument: { uri: 'file:///srv/work/src/a.ts' },
        item: [{ uri: 'file:///srv/work/b.ts' }],
        position: { line: 1 },
      },
      paths: ['src/a.ts', 'b.ts'],
    });
  });

  const outside: readonly unknown[] = [
    { textDocument: { uri: 'file:///etc/passwd' } },
    { textDocument: { uri: '/etc/passwd' } },
    { textDocument: { uri: '../x' } },
    { textDocument: { uri: 'https://example.org/x' } },
    { textDocument: { uri: 'external:0123456789ab/x.ts' } },
    { anything: ['file:///etc/passwd'] },
    { anything: ' FILE:///etc/passwd' },
  ];
  for (const params of outside) {
    test(`refuses ${JSON.stringify(params)} [S0-56]`, () => {
      assert.throws(() => sealParams(params, translation()), hasCode('E_POLICY'));
    });
  }

  test('answers name files by path, and places outside by opaque names, keys included [S0-56]', () => {
    const edit = { newText: 'x' };
    const answer = revealAnswer(
      {
        uri: 'file:///srv/work/a.ts',
        targetUri: 'file:///usr/lib/x.d.ts',
        changes: { 'file:///srv/work/b.ts': [edit], 'file:///var/lib/c.ts': [edit] },
        contents: 'in /srv/work/a.ts',
        ['__proto__']: 1,
      },
      translation(),
      'any',
    ) as Record<string, unknown>;
    assert.equal(answer['uri'], 'a.ts');
    assert.match(String(answer['targetUri']), /^external:/);
    const [first = '', second = ''] = Object.keys(answer['changes'] as object);
    assert.equal(first, 'b.ts');
    assert.match(second, /^external:/);
    assert.equal(answer['contents'], 'in a.ts');
    assert.doesNotMatch(JSON.stringify(answer), /srv|var|usr/);
  });

  test("a server's own data comes back to it unchanged and is not shown [S0-56]", () => {
    const both = translation();
    const data = { file: '/srv/work/a.ts', id: 7 };
    const shown = revealAnswer({ uri: 'file:///srv/work/a.ts', data }, both, 'any') as Record<string, unknown>;
    assert.doesNotMatch(JSON.stringify(shown), /srv/);
    const sealed = sealParams({ item: shown }, both);
    assert.deepEqual(sealed.params, { item: { uri: 'file:///srv/work/a.ts', data } });
    assert.throws(() => sealParams({ item: { data: 'kept:0.1' } }, both), hasCode('E_VALIDATION_FAIL'));
    assert.throws(() => sealParams({ item: { data } }, both), hasCode('E_VALIDATION_FAIL'));
  });

  test('an answer nested deeper than any stack is refused, not overflowed', () => {
    const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as unknown;
    assert.throws(() => revealAnswer(deep, translation(), 'any'), hasCode('E_INTERNAL'));
    assert.throws(() => sealParams(deep, translation()), hasCode('E_VALIDATION_FAIL'));
  });
});
