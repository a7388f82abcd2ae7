import assert from 'node:assert/strict';
import nodeModule from 'node:module';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { createEngine } from './engine.ts';
import { type Problems, readProblems } from './read-problems.ts';

const engine = createEngine();
after(() => engine.delete());

const SOUND =
  "import { a } from './a.js';\nclass K { m(x) { return [x, `t`]; } }\nif (a) { a(); } else { f({ b: 1 }); }\n";

test('finds what a query over the whole tree finds, wherever a text is broken [S0-63]', async () => {
  const place = fc.nat({ max: SOUND.length });
  const breakage = fc.record({
    place,
    cut: fc.nat({ max: 12 }),
    put: fc.constantFrom('', '(', '}', '"', ';;', '= =', '@#'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(breakage, { maxLength: 4 }), async (breakages) => {
      let text = SOUND;
      for (const one of breakages) text = text.slice(0, one.place) + one.put + text.slice(one.place + one.cut);
      const parsed = await engine.parse({ path: 'a.js', language: 'javascript', bytes: Buffer.from(text) });
      try {
        const expected = parsed.parser.queries.problems.captures(parsed.tree.rootNode);
        const { problems, problemCount } = readProblems(parsed);
        assert.deepEqual(
          problems.map(({ kind, span }) => [kind, span.end]),
          expected.slice(0, 50).map(({ name, node }) => [name, node.endIndex]),
        );
        for (const [at, { span }] of problems.entries()) assert.ok(span.start >= (expected[at]?.node.startIndex ?? 0));
        assert.equal(problemCount, expected.length);
      } finally {
        parsed.delete();
      }
    }),
  );
});

async function problemsIn(language: string, text: string): Promise<Problems> {
  const parsed = await engine.parse({ path: 'a', language, bytes: Buffer.from(text) });
  try {
    return readProblems(parsed);
  } finally {
    parsed.delete();
  }
}

const GAPS = {
  'variance of type parameters': 'export interface Box<in out T> { value: T }\n',
  'variance over several lines': 'export interface Box<\n  out Output = unknown,\n  in Input = unknown,\n> { a: 1 }\n',
  'export type *': 'export type * from "./t";\n',
  'call signatures without semicolons':
    'declare const f: {\n  <A>(a: A): Array<A>\n  <A, B>(a: A, b: B): Array<A | B>\n}\n',
  'type arguments of an imported type': "type R<T> = import('stream/web').ReadableStream<T>;\n",
  'a property whose name begins with in': 'interface A {\n  a?: string[]\n  in_app?: boolean\n}\n',
  'export import': "export import X = require('./x');\nconst a: X[] = [];\n",
};

for (const [what, text] of Object.entries(GAPS)) {
  test(`sound TypeScript is not broken: ${what} [S0-63]`, async () => {
    assert.deepEqual(await problemsIn('typescript', text), { problems: [], problemCount: 0 });
  });
  test(`broken TypeScript is broken beside sound one: ${what} [S0-63]`, async () => {
    const { problems, problemCount } = await problemsIn('typescript', `${text}const a: = 1;\n`);
    assert.ok(problemCount > 0);
    const { line, col } = problems[0] ?? {};
    assert.deepEqual({ line, col }, { line: text.split('\n').length, col: 10 });
  });
}

test('words that a grammar does not know are broken where they do not belong', async () => {
  for (const text of ['foo(a, in b);\n', 'type A<in T> = 1;\nfoo(a, in b);\n', 'export type * as;\n']) {
    for (const language of ['typescript', 'tsx']) {
      assert.ok((await problemsIn(language, text)).problemCount > 0, `${language}: ${text}`);
    }
  }
});

test('words that a grammar does not know leave names and places as they are', async () => {
  const text = 'export type * from "./t";\nexport interface Box<in out T> {\n  value: T\n}\nexport const after = 1;\n';
  for (const language of ['typescript', 'tsx']) {
    const facts = await engine.index({ path: 'a.ts', language, bytes: Buffer.from(text) });
    assert.deepEqual(
      facts.nodes.map(({ name, line, span }) => [name, line, text.slice(span.start, span.end)]),
      [
        ['Box', 2, 'export interface Box<in out T> {\n  value: T\n}'],
        ['value', 3, 'value: T'],
        ['after', 5, 'export const after = 1;'],
      ],
    );
    assert.equal(facts.imports[0]?.source, './t');
  }
});

test('a text that ends too early is broken at its end [S0-63]', async () => {
  const places = async (text: string) => {
    const { problems } = await problemsIn('typescript', text);
    return problems.slice(0, 1).map(({ line, col }) => [line, col]);
  };
  assert.deepEqual(await places('export function f( {\n'), [[1, 21]]);
  assert.deepEqual(await places('const a = 1;\nlet x = {\n  a: 1\n'), [[3, 7]]);
});

test('an error begins after the declarations that parsed', async () => {
  const { problems } = await problemsIn('rust', 'pub fn sound() {}\npub fn broken( { let x = ;\n');
  assert.equal(problems[0]?.line, 2);
});

test('the second parser is asked when someone wants to know, and once', async (t) => {
  const { mock } = t.mock.method(nodeModule, 'stripTypeScriptTypes');
  const found = await problemsIn('typescript', 'const a: = 1;\n');
  assert.equal(mock.callCount(), 0);
  assert.deepEqual([found.problemCount, found.problems[0]?.col], [1, 10]);
  assert.equal(mock.callCount(), 1);
  assert.deepEqual(await problemsIn('typescript', 'const a = 1;\n'), { problems: [], problemCount: 0 });
  assert.equal(mock.callCount(), 1);
});
