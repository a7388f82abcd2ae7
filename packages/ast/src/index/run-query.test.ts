import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { namesOf, scratchIndex } from '../../test/scratch-index.ts';
import type { Where } from '../contracts/code-index-contract.ts';

const SOURCE = `/** Documented. */
export class Store {
  private size = 0;
  /** Reads. */
  read(key: string): string { return decode(key); }
  write() { this.read('x'); }
}
export function readAll(store: Store) { return store.read('a'); }
function decode(text: string) { return text; }
export interface Reader { read(): string }
export const LIMIT = 5;
`;
const FILES = {
  'src/store.ts': SOURCE,
  'src/deep/other.ts': 'export function readOther() { return new Map(); }\n',
  'src/store.test.ts': "test('reads all', () => { readAll(); });\n",
  'tool.py': 'def read_all():\n    """Doc."""\n    return decode(1)\n',
};

describe('query', () => {
  test('gives nodes with id, type, name, file and span, by path and then by start [S0-53]', async (t) => {
    const { index } = scratchIndex(t, FILES);
    await index.generate();
    const { nodes, truncated } = await index.query({});
    assert.equal(truncated, false);
    const order = nodes.map((node) => [node.file, node.span.start] as const);
    assert.deepEqual(
      order,
      order.toSorted((left, right) => (left[0] === right[0] ? left[1] - right[1] : left[0] < right[0] ? -1 : 1)),
    );
    const [store] = (await index.query({ type: 'class' })).nodes;
    assert.ok(store !== undefined);
    assert.match(store.id, /^n[0-9A-Za-z]{12}$/);
    assert.match(store.rev, /^r[0-9A-Za-z]{12}$/);
    const { id: _, rev: __, ...rest } = store;
    const start = SOURCE.indexOf('export class');
    const end = SOURCE.indexOf('\nexport function readAll');
    assert.deepEqual(rest, {
      type: 'class',
      name: 'Store',
      container: '',
      file: 'src/store.ts',
      language: 'typescript',
      exported: true,
      has_doc: true,
      test: false,
      span: { start, end },
      line: 2,
      col: 1,
      end_line: 7,
      end_col: 2,
      name_span: { start: start + 13, end: start + 18 },
      body_span: { start: start + 19, end },
      full_span: { start: 0, end },
      signature: 'export class Store',
    });
  });

  test('narrows by every word of where [S0-53]', async (t) => {
    const { index } = scratchIndex(t, FILES);
    await index.generate();
    const ask = async (where: Where) => namesOf((await index.query(where)).nodes);
    assert.deepEqual(await ask({ type: 'fn' }), ['readOther', 'readAll', 'decode', 'read_all']);
    assert.deepEqual(await ask({ type_in: ['class', 'interface'] }), ['Store', 'Reader']);
    assert.deepEqual(await ask({ type: 'fn', type_in: ['class'] }), []);
    assert.deepEqual(await ask({ name_like: 'read' }), ['read', 'read']);
    assert.deepEqual(await ask({ name_like: 'read?*', test: false }), ['readOther', 'readAll', 'read_all']);
    assert.deepEqual(await ask({ name_like: '*All' }), ['readAll']);
    assert.deepEqual(await ask({ name_like: '*ead*', type: 'interface' }), ['Reader']);
    assert.deepEqual(await ask({ name_like: 'READ*' }), []);
    assert.deepEqual(await ask({ name_like: 'nobody' }), []);
    assert.deepEqual(await ask({ file_glob: 'src/**/other.ts' }), ['readOther']);
    assert.deepEqual(await ask({ file_glob: '*.py' }), ['read_all']);
    assert.deepEqual(await ask({ file_glob: 'src/{deep,none}/*', type: 'fn' }), ['readOther']);
    assert.deepEqual(await ask({ file_glob: 'src/store.ts', name_like: 'read' }), ['read', 'read']);
    assert.deepEqual(await ask({ type: 'fn', exported: false }), ['decode']);
    assert.deepEqual(await ask({ container: 'Store' }), ['size', 'read', 'write']);
    assert.deepEqual(await ask({ container: 'St*', type: 'method' }), ['read', 'write']);
    assert.deepEqual(await ask({ container: '', language: 'python' }), ['read_all']);
    assert.deepEqual(await ask({ language: 'python' }), ['read_all']);
    assert.deepEqual(await ask({ has_doc: true, type: 'method' }), ['read']);
    assert.deepEqual(await ask({ test: true }), ['reads all']);
    assert.deepEqual(await ask({ calls: 'decode' }), ['Store', 'read', 'read_all']);
    assert.deepEqual(await ask({ calls: 'Map' }), ['readOther']);
    assert.deepEqual(await ask({ calls: 'nobody' }), []);
    assert.deepEqual(await ask({ calls: 'decode', type: 'method', file_glob: 'src/**' }), ['read']);
  });

  test('gives at most the limit, says when there is more, and goes on from an offset [S0-53]', async (t) => {
    const text = Array.from({ length: 450 }, (_, at) => `export const c${at} = ${at};`).join('\n');
    const { index } = scratchIndex(t, { 'a.ts': text });
    await index.generate();
    const first = await index.query({});
    assert.deepEqual([first.nodes.length, first.truncated], [200, true]);
    const all = [];
    for (let offset = 0; ; offset += 150) {
      const { nodes, truncated } = await index.query({}, { limit: 150, offset });
      all.push(...namesOf(nodes));
      if (!truncated) break;
    }
    assert.deepEqual(
      all,
      Array.from({ length: 450 }, (_, at) => `c${at}`),
    );
    assert.equal((await index.query({}, { limit: 450 })).truncated, false);
    assert.equal((await index.query({}, { limit: 449 })).truncated, true);
  });

  test('adds the text of declarations on demand [S0-53]', async (t) => {
    const { index, put } = scratchIndex(t, { 'a.ts': '// grüße 🎈\nexport const a = "ü";\n' });
    await index.generate();
    const ask = async () => (await index.query({ name_like: '?' }, { source: true })).nodes.map((node) => node.source);
    assert.deepEqual(await ask(), ['export const a = "ü";']);
    put('a.ts', '// changed under the index\nconst b = 2;\n');
    assert.deepEqual(await ask(), ['const b = 2;'], 'never cut from other content');
    const [plain] = (await index.query({})).nodes;
    assert.ok(plain !== undefined && !('source' in plain));
  });

  test('refuses words and values it does not know [S0-53]', async (t) => {
    const { index } = scratchIndex(t, FILES);
    await index.generate();
    const refused: [unknown, RegExp][] = [
      [{ kind: 'fn' }, /Unknown word in where: kind/],
      [{ type: 'procedure' }, /Query is not valid/],
      [{ type_in: [] }, /Query is not valid/],
      [{ exported: 'yes' }, /Query is not valid/],
      [{ name_like: '' }, /Query is not valid/],
      [{ language: 'klingon' }, /Unknown language: klingon/],
      [{ file_glob: 'a[' }, /not a valid glob/],
    ];
    for (const [where, message] of refused) {
      await assert.rejects(index.query(where as Where), (thrown) => {
        assert.ok(isToolError(thrown));
        assert.equal(thrown.code, 'E_VALIDATION_FAIL');
        assert.match(thrown.message, message);
        assert.notEqual(thrown.details['next'], undefined);
        return true;
      });
    }
    for (const options of [{ limit: 0 }, { limit: 1.5 }, { limit: 10_001 }, { offset: -1 }]) {
      await assert.rejects(index.query({}, options), /out of range/);
    }
  });

  test('treats brackets and backslashes in names as they stand [S0-53]', async (t) => {
    const { index } = scratchIndex(t, { 'a.test.ts': "test('a[b]\\\\c{d}', () => {});\ntest('ab', () => {});\n" });
    await index.generate();
    const [first] = namesOf((await index.query({})).nodes);
    assert.ok(first?.includes('[b]'));
    assert.deepEqual(namesOf((await index.query({ name_like: 'a[b]*' })).nodes), [first]);
    assert.deepEqual(namesOf((await index.query({ name_like: first ?? '' })).nodes), [first]);
  });

  test('answers about one node, one file and one name', async (t) => {
    const { index } = scratchIndex(t, {
      ...FILES,
      'src/user.ts': "import { Store as S } from './store.ts';\nnew S();\n",
    });
    await index.generate();
    const [read] = (await index.query({ name_like: 'read', type: 'method', container: 'Store' })).nodes;
    const found = await index.nodeById(read?.id ?? '');
    assert.deepEqual(found?.node, read);
    assert.deepEqual([found?.ambiguous, found?.ordinal], [false, 0]);
    assert.equal(found?.sha256, index.fileRow('src/store.ts')?.sha256);
    assert.equal(await index.nodeById('nAAAAAAAAAAAA'), undefined);
    const outline = await index.outline('src/store.ts');
    assert.deepEqual(
      outline.map(({ node, children }) => [node.name, ...children.map((child) => child.node.name)]),
      [['Store', 'size', 'read', 'write'], ['readAll'], ['decode'], ['Reader', 'read'], ['LIMIT']],
    );
    const references = await index.references('decode');
    assert.deepEqual(
      references.map(({ file, kind, line, node_id: id }) => [file, kind, line, id]),
      [
        ['src/store.ts', 'call', 5, read?.id],
        ['tool.py', 'call', 3, (await index.nodesOfFile('tool.py'))[0]?.id],
      ],
    );
    assert.equal((await index.references('decode', { limit: 1 })).length, 1);
    const imports = await index.importsOf('src/user.ts');
    assert.deepEqual(
      imports.map(({ source, name, alias, file }) => ({ source, name, alias, file })),
      [{ source: './store.ts', name: 'Store', alias: 'S', file: 'src/user.ts' }],
    );
    assert.deepEqual(await index.importersOf('src/store.ts'), imports);
    assert.deepEqual(await index.importersOf('src/deep/other.ts'), []);
    assert.deepEqual(await index.outline('missing.ts'), []);
  });

  test('asks the given resolver what imports mean', async (t) => {
    const files = { 'lib/a.ts': 'export const a = 1;\n', 'b.ts': "import { a } from '@lib/a';\n" };
    const { index } = scratchIndex(t, files, {
      resolveImport: (source, { has }) => {
        const file = source.replace('@lib/', 'lib/').concat('.ts');
        return has(file) ? file : undefined;
      },
    });
    await index.generate();
    assert.deepEqual(
      (await index.importersOf('lib/a.ts')).map((row) => row.file),
      ['b.ts'],
    );
  });
});
