import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { createEngine } from '../symbols/engine.ts';
import { resolveScopes } from './resolve-scopes.ts';
import type { NameToken } from './scope-model.ts';

const engine = createEngine();
after(() => engine.delete());

/** Every token as `name role`, and for lexical ones the line its binding is declared in. */
async function describeTokens(language: string, text: string): Promise<string[]> {
  const parsed = await engine.parse({ path: 'x', language, bytes: Buffer.from(text) });
  try {
    const { tokens, source } = resolveScopes(parsed);
    const lineOf = ({ start }: NameToken) => source.rowOf(start) + 1;
    return tokens.map((token) => {
      const [first] = token.binding?.definitions ?? [];
      const home = first === undefined ? '' : ` ${lineOf(first)}`;
      return `${lineOf(token)} ${token.name} ${token.role}${home}${token.shorthand === undefined ? '' : ' shorthand'}`;
    });
  } finally {
    parsed.delete();
  }
}

describe('resolveScopes', () => {
  test('tells definitions, references, members, shorthand and names of nothing apart', async () => {
    assert.deepEqual(
      await describeTokens('typescript', 'const x = { x: 1 };\nout: ({ x, y: x.z });\nlabel: break label;\n'),
      ['1 x definition 1', '1 x member', '2 x reference 1 shorthand', '2 y member', '2 x reference 1', '2 z member'],
    );
  });

  test('keeps types and values of TypeScript apart', async () => {
    assert.deepEqual(await describeTokens('typescript', 'type a = 1;\nfunction f(a: a): typeof a { return a; }\n'), [
      '1 a definition 1',
      '2 f definition 2',
      '2 a definition 2',
      '2 a reference 1',
      '2 a reference 2',
      '2 a reference 2',
    ]);
  });

  test('skips class bodies from the functions in them, as Python does', async () => {
    assert.deepEqual(
      await describeTokens('python', 'x = 1\nclass C:\n    x = x\n    y = x\n    def m(self): return x\n'),
      [
        '1 x definition 1',
        '2 C definition 2',
        '3 x definition 3',
        '3 x reference 1',
        '4 y definition 4',
        '4 x reference 3',
        '5 m definition 5',
        '5 self definition 5',
        '5 x reference 1',
      ],
    );
  });

  test('marks the arguments of macros as opaque and resolves them all the same', async () => {
    assert.deepEqual(
      await describeTokens('rust', 'fn f(a: u8) {\n  m!(a, b.a, a: 1, "{a}");\n  println!("{a} {}", a);\n}\n'),
      [
        '1 f definition 1',
        '1 a definition 1',
        '2 m reference',
        '2 a opaque 1',
        '2 b opaque',
        '2 a opaque',
        '2 a opaque',
        '3 println reference',
        '3 a opaque 1',
        '3 a opaque 1',
      ],
    );
  });

  test('binds short declarations of Go from their end on', async () => {
    assert.deepEqual(await describeTokens('go', 'package p\nvar x = 1\nfunc f() {\n\tx := x\n\t_ = x\n}\n'), [
      '1 p other',
      '2 x definition 2',
      '3 f definition 3',
      '4 x definition 4',
      '4 x reference 2',
      '5 _ reference',
      '5 x reference 4',
    ]);
  });

  test('finds strings and comments, and the token that fills a range', async () => {
    const bytes = Buffer.from('a.b.c + "text"; // note\n');
    const parsed = await engine.parse({ path: 'x', language: 'javascript', bytes });
    try {
      const scopes = resolveScopes(parsed);
      assert.deepEqual(
        scopes.texts.map(({ kind, start, end }) => [kind, scopes.source.text.slice(start, end)]),
        [
          ['string', 'text'],
          ['comment', '// note'],
        ],
      );
      assert.equal(scopes.tokenFilling({ start: 0, end: 5 })?.name, 'c');
      assert.equal(scopes.tokenFilling({ start: 0, end: 3 })?.name, 'b');
      assert.equal(scopes.tokenFilling({ start: 2, end: 3 })?.name, 'b');
      assert.equal(scopes.tokenFilling({ start: 1, end: 3 }), undefined);
    } finally {
      parsed.delete();
    }
  });

  test('survives code that makes no sense', async () => {
    const texts: readonly (readonly [string, string])[] = [
      ['typescript', 'function ( { let const = = } => class export import from'],
      ['python', 'def class lambda: for in [x for\n  nonlocal y\nglobal'],
      ['rust', 'fn let match { use ::{self, *, a::{}} impl => mod ! ( { '],
      ['go', 'package\nfunc ( := range { case <- type struct {'],
      ['javascript', ''],
    ];
    for (const [language, text] of texts) assert.ok(Array.isArray(await describeTokens(language, text)), language);
  });
});
