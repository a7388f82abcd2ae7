import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { createParsers } from '../parse/parsers.ts';
import { decodeSource } from '../parse/source-text.ts';
import { loadProfile } from '../profile/load-profile.ts';
import { createEngine } from './engine.ts';
import { createFactReader } from './fact-reader.ts';

const engine = createEngine();
after(() => engine.delete());

const index = (language: string, path: string, text: string) =>
  // Not a test of speed: a busy machine needs longer than the default limit for the largest of these.
  engine.index({ path, language, bytes: Buffer.from(text), maxParseMs: 100_000 });

describe('facts [S0-53]', () => {
  test('keep their ids and revs when something else in the file changes', async () => {
    const before = await index('typescript', 'a.ts', 'function a() {}\nclass B {\n  m() {}\n}\n');
    const changed = await index(
      'typescript',
      'a.ts',
      '// 👋\nconst zero = 0;\nclass B {\n  n() {}\n  m() {}\n}\nfunction a() {}\n',
    );
    for (const name of ['a', 'm']) {
      const [old, now] = [before, changed].map((facts) => facts.nodes.find((node) => node.name === name));
      assert.deepEqual([now?.id, now?.rev], [old?.id, old?.rev]);
    }
    const [oldClass, newClass] = [before, changed].map((facts) => facts.nodes.find((node) => node.name === 'B'));
    assert.equal(newClass?.id, oldClass?.id);
    assert.notEqual(newClass?.rev, oldClass?.rev);
  });

  test('give spans that cut the declaration out of the bytes of the file', async () => {
    const text = '\uFEFF/** 👋 doc */\n@dec export class Ä { é(): void { } }\r\n';
    const bytes = Buffer.from(text);
    const facts = await engine.index({ path: 'a.ts', language: 'typescript', bytes });
    const cut = (span: { start: number; end: number } | undefined) =>
      bytes.subarray(span?.start, span?.end).toString('utf8');
    const [type, method] = facts.nodes;
    assert.equal(cut(type?.span), 'export class Ä { é(): void { } }');
    assert.equal(cut(type?.fullSpan), '/** 👋 doc */\n@dec export class Ä { é(): void { } }');
    assert.deepEqual([cut(method?.nameSpan), cut(method?.bodySpan), method?.line, method?.col], ['é', '{ }', 2, 23]);
  });

  test('say which declaration a call stands in', async () => {
    const facts = await index('python', 'a.py', 'x()\ndef f():\n    y()\n    def g():\n        z()\n    w()\n');
    const owners = facts.refs.map((ref) => [ref.name, facts.nodes[ref.node]?.name]);
    assert.deepEqual(owners, [
      ['x', undefined],
      ['y', 'f'],
      ['z', 'g'],
      ['w', 'f'],
    ]);
  });

  test('leave out the variables of functions, also of nameless ones, but not what is declared in them', async () => {
    const text =
      'const keep = run(() => {\n  const drop = () => 1;\n  let gone = class {};\n  const [x] = y;\n  if (x) { var z = 1; }\n});\n{ const block = 1; }\n';
    const facts = await index('typescript', 'a.ts', text);
    assert.deepEqual(
      facts.nodes.map((node) => [node.type, node.container, node.name, node.span.start, node.parent]),
      [
        ['const', '', 'keep', 0, -1],
        ['fn', 'keep', 'drop', 27, 0],
        ['class', 'keep', 'gone', 51, 0],
        ['const', '', 'block', text.indexOf('const block'), -1],
      ],
    );
  });

  test('count at most 50 problems in detail and all of them in number', async () => {
    const facts = await index('python', 'a.py', 'def f(:\n    pass\n'.repeat(60));
    assert.equal(facts.problems.length, 50);
    assert.ok(facts.problemCount >= 60);
    assert.deepEqual((await index('python', 'a.py', 'def f():\n    pass\n'.repeat(60))).problems, []);
  });

  test('find unwraps and panics inside the arguments of macros, but not in strings and comments [S0-69]', async () => {
    const text = 'fn f() {\n  check!(a . unwrap ( ), panic! (""), ".unwrap()", /* .unwrap() */ b - (c));\n}\n';
    const facts = await index('rust', 'src/lib.rs', text);
    assert.deepEqual(
      facts.refs.map((ref) => [ref.kind, ref.name, ref.opaque === true]),
      [
        ['macro', 'check', false],
        ['call', 'unwrap', true],
        ['macro', 'panic', true],
      ],
    );
  });

  test('say which files are library code [S0-69]', async () => {
    const isLibrary = async (path: string) => (await index('rust', path, '')).library;
    const paths = [
      'src/lib.rs',
      'src/main.rs',
      'src/bin/x.rs',
      'examples/e.rs',
      'build.rs',
      'tests/t.rs',
      'crates/a/src/a.rs',
    ];
    assert.deepEqual(await Promise.all(paths.map(isLibrary)), [true, false, false, false, false, false, true]);
  });

  test('tell a doc comment from one that belongs to something else [S0-68]', async () => {
    const text = [
      '/** doc */\nexport function a() {}',
      'export const one = 1; /** trailing */\nexport function b() {}',
      '/** too far */\n\nexport function c() {}',
      '/** doc */\n// eslint-disable-next-line\nexport function d() {}',
      '/** for both */\nexport const e = 1, f = 2;',
      '/**/\nexport function g() {}',
    ].join('\n\n');
    const facts = await index('typescript', 'a.ts', text);
    const documented = facts.nodes.filter((node) => node.hasDoc).map((node) => node.name);
    assert.deepEqual(documented, ['a', 'd', 'e', 'f']);
  });

  test('take a statement with several names apart, also where some of them are left out', async () => {
    const text =
      'function f() {\n  var a = 1, g = function () {}, b = 2;\n}\n/** doc */\nexport const x = class { private p = 1; }, y = 2;\n';
    const facts = await index('typescript', 'a.ts', text);
    const cut = facts.nodes.map((node) => [
      node.name,
      text.slice(node.span.start, node.span.end),
      node.exported,
      node.hasDoc,
    ]);
    assert.deepEqual(cut.slice(1), [
      ['g', 'g = function () {}', false, false],
      ['x', 'x = class { private p = 1; }', true, true],
      ['p', 'private p = 1', false, false],
      ['y', 'y = 2', true, true],
    ]);
  });

  test('end in a file that is nested beyond reason, or has one statement with a hundred thousand names (deep)', async () => {
    const depth = 20_000;
    const nested = await index('javascript', 'a.js', `${'function f(){'.repeat(depth)}${'}'.repeat(depth)}`);
    assert.equal(nested.nodes.length, 65);
    const flat = await index('javascript', 'a.js', `/** doc */\nvar ${'a = 1, '.repeat(100_000)}b = 2;\n`);
    assert.equal(flat.nodes.length, 100_001);
    const nameless = (levels: number) => `${'(() => { let [a] = '.repeat(levels)}1${'})()'.repeat(levels)}`;
    assert.equal((await index('javascript', 'a.js', nameless(5_000))).nodes.length, 0);
    // Deeper than the query can count: it would take minutes and is stopped.
    const parsed = await engine.parse({ path: 'a.js', language: 'javascript', bytes: Buffer.from(nameless(depth)) });
    assert.throws(() => engine.facts(parsed, 'a.js', { maxParseMs: 200 }), { code: 'E_TIMEOUT' });
    parsed.delete();
    assert.equal((await index('javascript', 'a.js', 'var x;')).nodes.length, 1);
  });

  test('are the same for a file of a hundred thousand declarations as for one (deep)', async () => {
    const facts = await index('typescript', 'a.ts', 'export const a = 1;\n'.repeat(100_000));
    assert.equal(facts.nodes.length, 100_000);
    assert.equal(
      facts.nodes.every((node) => node.exported),
      true,
    );
    assert.equal(new Set(facts.nodes.map((node) => node.id)).size, 100_000);
  });
});

describe('a fact reader', () => {
  test('refuses a file with more symbols than allowed, and reads one that just fits', async () => {
    const parser = await engine.parserFor('go');
    const parsed = parser.parse(decodeSource(Buffer.from('package a\nvar (\n\ta = 1\n\tb = 2\n)\n'), 'a.go'));
    assert.throws(() => createFactReader(parser, 1).read(parsed, 'a.go'), { details: { reason: 'too_many_symbols' } });
    assert.equal(createFactReader(parser, 2).read(parsed, 'a.go').nodes.length, 2);
    parsed.delete();
  });

  test('refuses a query with an unknown capture, and takes the names of predicates', async () => {
    const withQuery = async (symbolsQuery: string) => {
      const parsers = createParsers({ loadProfile: (id) => ({ ...loadProfile(id), symbolsQuery }) });
      return createFactReader(await parsers.parserFor('go'));
    };
    await assert.rejects(withQuery('(identifier) @def.fnord'), /unknown capture @def\.fnord/);
    await assert.rejects(withQuery('(identifier) @nmae'), /unknown capture @nmae/);
    assert.ok(await withQuery('((identifier) @_own (#eq? @_own "x")) @def.fn'));
  });

  test('hides what stands in a hidden section, until the section or the container ends', async () => {
    const symbolsQuery = `
      (type_spec name: (_) @name type: (struct_type) @body) @def.struct
      (field_declaration name: (_) @name) @def.field
      ((comment) @section (#match? @section "^//(private|public)$"))`;
    const load = (id: string) => {
      const loaded = loadProfile(id);
      const exported = { ...loaded.profile.exported, by: 'absent' as const, hidden: 'private' };
      return { ...loaded, symbolsQuery, profile: { ...loaded.profile, exported } };
    };
    const own = createEngine({ loadProfile: load });
    const text =
      'package a\ntype A struct {\n\ta int\n\t//private\n\tb int\n\t//public\n\tc int\n\t//private\n}\ntype B struct {\n\td int\n}\n';
    const facts = await own.index({ path: 'a.go', language: 'go', bytes: Buffer.from(text) });
    assert.deepEqual(
      facts.nodes.filter((node) => node.exported).map((node) => node.name),
      ['A', 'a', 'c', 'B', 'd'],
    );
    await own.delete();
  });
});
