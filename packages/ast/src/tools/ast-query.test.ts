import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CodeRuntime, openCodeRuntime } from '../../test/code-runtime.ts';

interface Answer {
  readonly nodes: readonly { id: string; name: string; file: string; source?: string; depth?: number; rev: string }[];
  readonly references?: readonly { file: string; line: number; kind: string; test: boolean; node_id?: string }[];
  readonly confidence?: string;
  readonly truncated: boolean;
  readonly total?: number;
  readonly near?: readonly string[];
  readonly matches?: readonly { file: string; line: number; col: number; text: string; captures?: object }[];
  readonly imports?: readonly { file: string; source: string }[];
}

const FILES = {
  'src/auth.rs': '/// Lets in.\npub fn auth_login() {}\n\nfn auth_helper() { auth_login() }\n\npub struct Auth;\n',
  'src/other.rs': 'pub fn auth_other() {}\n',
  'lib/auth.rs': 'pub fn auth_lib() {}\n',
  'node_modules/x/index.js': 'function auth_vendored() {}\n',
};

const ask = (code: CodeRuntime, args: object) => code.ask<Answer>('ast_query', args);
const names = ({ nodes }: Answer) => nodes.map(({ name }) => name);

describe('ast_query [S0-53]', () => {
  test('answers the example of the specification, and indexes the workspace for the first question [S0-53]', async () => {
    await using code = await openCodeRuntime(FILES);
    const answer = await ask(code, {
      where: { type: 'fn', name_like: 'auth*', file_glob: 'src/**' },
      limit: 200,
      detail: 'full',
    });
    assert.deepEqual(names(answer), ['auth_login', 'auth_helper', 'auth_other']);
    const [first] = answer.nodes;
    const span = { start: FILES['src/auth.rs'].indexOf('pub fn'), end: FILES['src/auth.rs'].indexOf('\n\nfn') };
    assert.deepEqual(
      { ...first, id: '', rev: '' },
      {
        ...{ id: '', rev: '', type: 'fn', name: 'auth_login', container: '', file: 'src/auth.rs', language: 'rust' },
        ...{ exported: true, has_doc: true, test: false, span, line: 2, col: 1, end_line: 2, end_col: 23 },
        name_span: { start: 20, end: 30 },
        body_span: { start: 33, end: 35 },
        full_span: { start: 0, end: 35 },
        signature: 'pub fn auth_login()',
      },
    );
  });

  test('every field narrows, and an unknown field is an error [S0-53]', async () => {
    await using code = await openCodeRuntime(FILES);
    assert.deepEqual(names(await ask(code, { where: { exported: false } })), ['auth_helper']);
    assert.deepEqual(names(await ask(code, { where: { calls: 'auth_login' } })), ['auth_helper']);
    assert.deepEqual(names(await ask(code, { where: { type: 'struct' } })), ['Auth']);
    assert.deepEqual(names(await ask(code, { where: { name_like: 'auth_l*' } })), ['auth_lib', 'auth_login']);
    assert.deepEqual(
      names(await ask(code, { where: { name_like: 'auth_vendored' } })),
      [],
      'vendored code is left out',
    );
    assert.deepEqual(
      names(await ask(code, { where: { type: 'function' } })),
      names(await ask(code, { where: { type: 'fn' } })),
    );
    for (const where of [{ colour: 'red' }, { type: 'procedure' }, { language: 'klingon' }]) {
      assert.equal((await code.refusal('ast_query', { where })).code, 'E_VALIDATION_FAIL', JSON.stringify(where));
    }
  });

  test('limit and offset page through the answer, and it says when there is more [S0-53]', async () => {
    await using code = await openCodeRuntime(FILES);
    const first = await ask(code, { where: { type: 'fn' }, limit: 3 });
    assert.deepEqual([names(first), first.truncated], [['auth_lib', 'auth_login', 'auth_helper'], true]);
    const rest = await ask(code, { where: { type: 'fn' }, limit: 3, offset: 3 });
    assert.deepEqual([names(rest), rest.truncated], [['auth_other'], false]);
  });

  test('ids stay while other code changes, and change with the name; rev follows the text [S0-53]', async () => {
    await using code = await openCodeRuntime(FILES);
    const login = { where: { name_like: 'auth_login' }, detail: 'full' };
    const [before] = (await ask(code, login)).nodes;
    await code.ask('file_write', { path: 'src/auth.rs', content: `fn new_first() {}\n\n${FILES['src/auth.rs']}` });
    const [moved] = (await ask(code, login)).nodes;
    assert.deepEqual([moved?.id, moved?.rev], [before?.id, before?.rev]);
    await code.ask('file_write', {
      path: 'src/auth.rs',
      content: 'pub fn auth_login() { todo!() }\npub fn auth_x() {}\n',
    });
    const [changed] = (await ask(code, login)).nodes;
    assert.equal(changed?.id, before?.id);
    assert.notEqual(changed?.rev, before?.rev);
    await code.ask('file_write', { path: 'src/auth.rs', content: 'pub fn auth_x() {}\n' });
    const gone = await code.refusal('ast_query', { node_id: before?.id });
    assert.deepEqual([gone.code, gone.details?.['reason']], ['E_VALIDATION_FAIL', 'stale_node']);
  });

  test('lists are compact rows with a total; a name that nothing has is answered with near ones', async () => {
    await using code = await openCodeRuntime(FILES);
    const { nodes, total } = await ask(code, { where: { type: 'fn' }, limit: 1 });
    assert.deepEqual(nodes, [
      {
        id: nodes[0]?.id,
        ...{ type: 'fn', name: 'auth_lib', file: 'lib/auth.rs', line: 1, end_line: 1, exported: true },
        span: { start: 0, end: 20 },
        signature: 'pub fn auth_lib()',
      },
    ]);
    assert.equal(total, 4);
    assert.deepEqual((await ask(code, { where: { name_like: 'auth_logn' } })).near, ['auth_login']);
    assert.equal((await ask(code, { where: { name_like: 'zzz*' } })).near, undefined);
  });

  test('the outline of one file does not index the workspace', async () => {
    await using code = await openCodeRuntime(FILES);
    const { nodes, total } = await ask(code, { where: { file_glob: 'src/other.rs' }, view: 'outline' });
    assert.deepEqual([nodes.length, total], [1, 1]);
    const { languages } = await code.ask<{ languages: object }>('ast_generate', { paths: ['src/other.rs'] });
    assert.deepEqual(languages, { rust: 1 });
  });

  test('the view matches finds code by pattern, with what it captured', async () => {
    await using code = await openCodeRuntime({
      'a.ts': 'export function f() {\n  return load(1, 2);\n}\n// load(3)\n',
      'b.ts': 'load();\n',
      'c.py': 'load(1)\n',
    });
    const query = { view: 'matches', pattern: 'load($A, $$$REST)', where: { language: 'typescript' } };
    const { matches = [], truncated } = await ask(code, query);
    assert.deepEqual(
      matches.map(({ file, line, col, text, captures }) => [file, line, col, text, captures]),
      [['a.ts', 2, 10, 'load(1, 2)', { A: '1', REST: '2' }]],
    );
    assert.equal(truncated, false);
    for (const wrong of [
      { view: 'matches', where: {} },
      { ...query, where: {} },
    ]) {
      assert.equal((await code.refusal('ast_query', wrong)).code, 'E_VALIDATION_FAIL');
    }
  });

  test('the view imports lists what files import', async () => {
    await using code = await openCodeRuntime({
      'a.ts': "import { x as y } from './b.ts';\nimport type T from 'zod';\n",
      'b.ts': "export * from './c.ts';\n",
    });
    assert.deepEqual((await ask(code, { view: 'imports', where: { file_glob: 'a.ts' } })).imports, [
      { file: 'a.ts', line: 1, source: './b.ts', name: 'x', alias: 'y' },
      { file: 'a.ts', line: 2, source: 'zod', name: 'default', alias: 'T', type_only: true },
    ]);
    const all = await ask(code, { view: 'imports', where: { name_like: './*' } });
    assert.deepEqual(
      all.imports?.map(({ file, source }) => `${file} ${source}`),
      ['a.ts ./b.ts', 'b.ts ./c.ts'],
    );
  });

  test('sees what other tools wrote, moved and removed [S0-78]', async () => {
    await using code = await openCodeRuntime({ 'a.ts': 'export const one = 1;\n' });
    const where = { where: { language: 'typescript' } };
    assert.deepEqual(names(await ask(code, where)), ['one']);
    await code.ask('file_write', { path: 'b.ts', content: 'export const two = 2;\n' });
    assert.deepEqual(names(await ask(code, where)), ['one', 'two']);
    await code.ask('fs_move', { src: 'a.ts', dst: 'c.ts' });
    assert.deepEqual(names(await ask(code, where)), ['two', 'one']);
    await code.ask('fs_delete', { path: 'b.ts' });
    assert.deepEqual(names(await ask(code, where)), ['one']);
  });

  test('the view source adds the text, the view outline whole files with depth', async () => {
    const text = 'export class A {\n  b(): number {\n    return 1;\n  }\n}\nexport const c = 2;\n';
    await using code = await openCodeRuntime({ 'src/a.ts': text });
    const [method] = (await ask(code, { where: { name_like: 'b' }, view: 'source' })).nodes;
    assert.equal(method?.source, 'b(): number {\n    return 1;\n  }');
    const outline = await ask(code, { where: { file_glob: 'src/a.ts' }, view: 'outline' });
    assert.deepEqual(
      outline.nodes.map(({ name, depth }) => [name, depth]),
      [
        ['A', 0],
        ['b', 1],
        ['c', 0],
      ],
    );
    const id = outline.nodes[0]?.id;
    assert.deepEqual(names(await ask(code, { node_id: id, view: 'outline' })), ['A', 'b']);
    assert.equal((await ask(code, { node_id: method?.id, view: 'source' })).nodes[0]?.source, method?.source);
    assert.equal((await ask(code, { node_id: id })).nodes[0]?.source, undefined);
  });

  test('the view references follows scopes and imports where a language has them', async () => {
    await using code = await openCodeRuntime({
      'a.ts': 'export function load() {}\n',
      'b.ts': "import { load } from './a.ts';\nexport const run = () => load();\n",
      'c.ts': 'const load = () => 1;\nload();\n',
      'a.test.ts': "import { load } from './a.ts';\ntest('x', () => { load(); });\n",
    });
    const found = await ask(code, { where: { name_like: 'load', file_glob: 'a.ts' }, view: 'references' });
    assert.equal(found.confidence, 'resolver');
    assert.deepEqual(
      found.references?.map(({ file, line, kind, test: isTest }) => [file, line, kind, isTest]),
      [
        ['a.test.ts', 1, 'import', false],
        ['a.test.ts', 2, 'reference', true],
        ['b.ts', 1, 'import', false],
        ['b.ts', 2, 'reference', false],
      ],
    );
    const both = await ask(code, { where: { name_like: 'load' }, view: 'references' });
    assert.deepEqual([both.nodes.length, both.confidence, both.references?.length], [2, 'name', 3]);
  });
});
