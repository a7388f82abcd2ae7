import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { ToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { Parser } from 'web-tree-sitter';
import { LANGUAGES_FOLDER, loadProfile } from '../profile/load-profile.ts';
import { createParsers } from './parsers.ts';
import { decodeSource, type SourceText } from './source-text.ts';

/** The runtime keeps its memory in the object it is first started with. */
const runtime: { HEAPU8?: Uint8Array } = {};
await Parser.init(runtime as never);

const parsers = createParsers();
after(() => parsers.delete());

const SAMPLES: readonly [language: string, file: string][] = [
  ['typescript', 'sample.ts'],
  ['tsx', 'sample.tsx'],
  ['javascript', 'sample.js'],
  ['python', 'sample.py'],
  ['rust', 'sample.rs'],
  ['go', 'sample.go'],
];

function sourceOf(text: string): SourceText {
  return decodeSource(Buffer.from(text), 'a');
}

function sample(language: string, file: string): string {
  return readFileSync(new URL(`${language}/fixtures/${file}`, LANGUAGES_FOLDER), 'utf8');
}

const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  remove: fc.nat(30),
  insert: fc.string({
    unit: fc.constantFrom('x', ' ', '\n', '\t', '(', ')', '{', '}', '"', ';', '👋', 'fn ', 'é', '/*'),
    maxLength: 6,
  }),
});

/** Cut at characters, not units: half a surrogate pair is not valid text. */
function apply(text: string, { at, remove, insert }: { at: number; remove: number; insert: string }): string {
  const characters = [...text];
  const from = Math.floor(at * characters.length);
  return [...characters.slice(0, from), insert, ...characters.slice(from + remove)].join('');
}

test('queries that are compiled on first use fit their grammars, and are compiled once', async () => {
  for (const [language] of SAMPLES) {
    const { queries } = await parsers.parserFor(language);
    assert.ok(queries.locals !== undefined);
    assert.equal(queries.locals, queries.locals);
    assert.equal(queries.problems, queries.problems);
  }
});

describe('incremental parsing [S0-52]', () => {
  for (const [language, file] of SAMPLES) {
    test(`of ${language} gives the tree of a full parse after any series of edits`, async () => {
      const parser = await parsers.parserFor(language);
      const original = sample(language, file);
      fc.assert(
        fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
          let text = original;
          let parsed = parser.parse(sourceOf(text));
          for (const one of edits) {
            text = apply(text, one);
            const next = parser.parse(sourceOf(text), { previous: parsed });
            parsed.delete();
            parsed = next;
          }
          const full = parser.parse(sourceOf(text));
          assert.equal(parsed.tree.rootNode.toString(), full.tree.rootNode.toString());
          parsed.delete();
          full.delete();
        }),
        { numRuns: 25 },
      );
    });
  }

  test('leaves the earlier parse as it was', async () => {
    const parser = await parsers.parserFor('go');
    const first = parser.parse(sourceOf('package a\n'));
    const before = first.tree.rootNode.toString();
    const second = parser.parse(sourceOf('package a\n\nvar x = 1\n'), { previous: first });
    assert.equal(first.tree.rootNode.toString(), before);
    assert.notEqual(second.tree.rootNode.toString(), before);
    first.delete();
    second.delete();
  });
});

describe('a parser', () => {
  const big = `${'export const value = [1, 2, { a: "b" }];\n'.repeat(20_000)}`;

  test('stops at its deadline and is usable afterwards', async () => {
    const parser = await parsers.parserFor('typescript');
    assert.throws(() => parser.parse(sourceOf(big), { path: 'big.ts', maxParseMs: 1 }), {
      code: 'E_TIMEOUT',
      message: 'File took too long to parse: big.ts',
      details: { reason: 'parse_timeout' },
    });
    const parsed = parser.parse(sourceOf('const x = 1;'));
    assert.equal(parsed.tree.rootNode.toString(), fresh(parser.parse(sourceOf('const x = 1;'))));
    parsed.delete();
  });

  test('stops when its signal is aborted, with the reason of the signal', async () => {
    const parser = await parsers.parserFor('typescript');
    const reason = new ToolError('E_POLICY', 'Stopped by the host');
    assert.throws(() => parser.parse(sourceOf(big), { signal: AbortSignal.abort(reason) }), reason);
    assert.throws(() => parser.parse(sourceOf(big), { signal: AbortSignal.abort() }), {
      details: { kind: 'cancellation', retry: 'retryable', reason: 'cancelled' },
    });
    const parsed = parser.parse(sourceOf(big), { signal: new AbortController().signal });
    assert.equal(parsed.tree.rootNode.hasError, false);
    parsed.delete();
  });

  test('stops in the middle when the signal is aborted while it works', async () => {
    const parser = await parsers.parserFor('typescript');
    let looks = 0;
    const signal = {
      get aborted() {
        return ++looks > 5;
      },
      reason: new ToolError('E_POLICY', 'Enough'),
    } as unknown as AbortSignal;
    assert.throws(() => parser.parse(sourceOf(big), { signal }), { message: 'Enough' });
    assert.ok(looks >= 6);
  });

  test('survives a hundred thousand nested parentheses', async () => {
    const parser = await parsers.parserFor('typescript');
    const depth = 100_000;
    const parsed = parser.parse(sourceOf(`x = ${'('.repeat(depth)}1${')'.repeat(depth)};`));
    assert.equal(parsed.tree.rootNode.hasError, false);
    assert.equal(parser.queries.symbols.matches(parsed.tree.rootNode).length, 0);
    parsed.delete();
  });

  test('keeps the memory of the runtime flat over 500 parses that are deleted (deep)', async () => {
    const parser = await parsers.parserFor('typescript');
    const source = sourceOf(sample('typescript', 'sample.ts').repeat(4));
    const parseMany = (count: number): void => {
      for (let nth = 0; nth < count; nth++) parser.parse(source).delete();
    };
    parseMany(50);
    const before = heapBytes();
    parseMany(500);
    assert.equal(heapBytes(), before);
    // The measure itself: kept trees do make it grow.
    const kept = Array.from({ length: 500 }, () => parser.parse(source));
    assert.ok(heapBytes() > before);
    for (const parsed of kept) parsed.delete();
  });

  test('of an unknown language is refused by name', async () => {
    await assert.rejects(parsers.parserFor('cobol'), { code: 'E_AST_PARSE', message: 'Unknown language: cobol' });
  });

  test('with a query that does not fit the grammar is refused, and only that language', async () => {
    const mixed = createParsers({
      loadProfile: (id) =>
        id === 'go' ? { ...loadProfile(id), symbolsQuery: '(no_such_node) @comment' } : loadProfile(id),
    });
    await assert.rejects(
      mixed.parserFor('go'),
      /Grammar refused, go\/symbols.scm does not fit it .*no_such_node.*: go$/,
    );
    assert.equal((await mixed.parserFor('python')).language, 'python');
    await mixed.delete();
  });
});

function fresh(parsed: { readonly tree: { readonly rootNode: { toString(): string } }; delete(): void }): string {
  const text = parsed.tree.rootNode.toString();
  parsed.delete();
  return text;
}

function heapBytes(): number {
  return runtime.HEAPU8?.byteLength ?? 0;
}
