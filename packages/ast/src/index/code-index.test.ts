import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { everything, live, scratchIndex } from '../../test/scratch-index.ts';
import type { CodeIndex, QueryNode } from '../contracts/code-index-contract.ts';
import { nodeId } from '../symbols/node-id.ts';

/** Ids by the text of the declaration, for a file written again and again. */
async function history(t: TestContext) {
  const { index, write } = scratchIndex(t);
  return async (text: string) => {
    await write('a.ts', text);
    const nodes = await index.nodesOfFile('a.ts', { source: true });
    return { nodes, idOf: (source: string) => nodes.find((node) => node.source === source)?.id };
  };
}

describe('ids', () => {
  test('survive edits elsewhere in the file: insert, delete, reorder, reformat around [S0-53]', async (t) => {
    const step = await history(t);
    const [one, two, three] = ['function one() {}', 'function two() { return 1; }', 'class Three {}'];
    const first = await step([one, two, three].join('\n'));
    const kept = [one, two, three].map(first.idOf);
    const versions = [
      [`// new first line`, one, two, three].join('\n'),
      [one, 'const between = 1;', two, three].join('\n\n'),
      [three, two, one].join('\n'),
      [three, 'function one2() {}', two, 'const x = 1;', one].join('\r\n'),
      ['// ümläut 🎈', one, two, three].join('\n'),
    ];
    for (const version of versions) {
      const { idOf } = await step(version);
      assert.deepEqual([one, two, three].map(idOf), kept, version);
    }
    const { nodes } = await step([one, three].join('\n'));
    assert.deepEqual(
      nodes.map((node) => node.id),
      [kept[0], kept[2]],
    );
    assert.equal((await step([one, two, three].join('\n'))).idOf(two), kept[1], 'back again under its old id');
  });

  test('change with name, container and file, and rev with the text [S0-53]', async (t) => {
    const step = await history(t);
    const before = (await step('class A { run() {} }\nfunction f() { return 1; }\n')).nodes;
    const after = (await step('class B { run() {} }\nfunction f() { return 2; }\n')).nodes;
    const by = (nodes: readonly QueryNode[], name: string) => nodes.find((node) => node.name === name);
    assert.notEqual(by(before, 'run')?.id, by(after, 'run')?.id);
    assert.equal(by(before, 'f')?.id, by(after, 'f')?.id);
    assert.notEqual(by(before, 'f')?.rev, by(after, 'f')?.rev);
    assert.equal(by(before, 'run')?.rev, by(after, 'run')?.rev);
  });

  test('of twins go with the text, through duplication, deletion and reordering [S0-53]', async (t) => {
    const step = await history(t);
    const [a, b, c] = [
      'test("same", () => { a(); });',
      'test("same", () => { b(); });',
      'test("same", () => { c(); });',
    ];
    const first = await step([a, b, c].join('\n'));
    const [idA, idB, idC] = [a, b, c].map(first.idOf);
    assert.equal(new Set([idA, idB, idC]).size, 3);
    const reordered = await step([c, a, b].join('\n'));
    assert.deepEqual([a, b, c].map(reordered.idOf), [idA, idB, idC]);
    const without = await step([c, b].join('\n'));
    assert.deepEqual([b, c].map(without.idOf), [idB, idC]);
    const more = await step([c, 'test("same", () => { d(); });', b].join('\n'));
    assert.deepEqual([b, c].map(more.idOf), [idB, idC]);
  });

  test('of twins that changed at once are marked, and not mixed up with others [S0-53]', async (t) => {
    const { index, write } = scratchIndex(t);
    const twins = (one: string, two: string) => `test("x", () => { ${one}(); });\ntest("x", () => { ${two}(); });\n`;
    await write('a.ts', twins('a', 'b'));
    await write('a.ts', twins('c', 'd'));
    for (const { id } of await index.nodesOfFile('a.ts')) assert.equal((await index.nodeById(id))?.ambiguous, true);
    await write('a.ts', twins('c', 'e'));
    for (const { id } of await index.nodesOfFile('a.ts')) assert.equal((await index.nodeById(id))?.ambiguous, false);
  });

  test('of twins are kept by the next process and by a new generate [S0-53]', async (t) => {
    const { index, write, open } = scratchIndex(t);
    const [a, b] = ['test("same", () => { a(); });', 'test("same", () => { b(); });'];
    const idOf = async (one: CodeIndex, source: string) =>
      (await one.nodesOfFile('a.ts', { source: true })).find((node) => node.source === source)?.id;
    await write('a.ts', `${a}\n${b}\n`);
    const kept = await idOf(index, b);
    await write('a.ts', `${b}\n`);
    assert.equal(await idOf(index, b), kept);
    await index.generate({ incremental: false });
    assert.equal(await idOf(index, b), kept);
    await index.close();
    assert.equal(await idOf(open(), b), kept);
  });
});

const SNIPPETS = [
  'export function f() { return g(1); }',
  'function g(n: number) { return new Map([[n, n]]); }',
  '/** Doc. */\nexport class C {\n  m() { this.n(); }\n  n() {}\n}',
  'export const π = "ünïcödé 🎈";',
  "import { f as h, type T } from './other.ts';",
  'interface I { a: string; b(): void }',
  'test("t", () => { f(); });',
  'test("t", () => { g(2); });',
  'function broken( {',
  '// a comment\r\n',
];

type Step =
  | { readonly do: 'write' | 'outside'; readonly file: string; readonly parts: readonly number[] }
  | { readonly do: 'remove'; readonly file: string }
  | { readonly do: 'move'; readonly file: string; readonly to: string };

const file = fc.constantFrom('w/a.ts', 'w/b.ts', 'w/x/c.ts', 'w/x/d.ts', 'w/e.py');
const folder = fc.constantFrom('w/x', 'w/y', 'w/a.ts');
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constantFrom('write' as const, 'outside' as const), file, parts: parts() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), file: fc.oneof(file, folder) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('move' as const), file: folder, to: folder }) },
);

function parts() {
  return fc.array(fc.nat({ max: SNIPPETS.length - 1 }), { maxLength: 6 });
}

describe('after any edits', () => {
  test('the index says what a fresh index says [S0-52 S0-53] (deep)', async (t) => {
    const { index, workspace, put, open } = scratchIndex(t);
    await index.generate();
    const change = async (one: Step) => {
      if (one.do === 'remove') return (await workspace.remove(one.file, { recursive: true }))?.changes ?? [];
      if (one.do === 'move') return (await workspace.move(one.file, one.to, { overwrite: true })).changes;
      const text = one.parts.map((at) => SNIPPETS[at]).join('\n');
      if (one.do === 'write') return [await workspace.writeFile(one.file, Buffer.from(text), { createDirs: true })];
      put(one.file, text);
      return [];
    };
    // What cannot be done (into itself, from nowhere, through a file) is refused, and nothing happened.
    const take = async (one: Step) =>
      index.refresh(
        await change(one).catch((thrown) => {
          assert.ok(isToolError(thrown) || ['EISDIR', 'ENOTDIR', 'EEXIST'].includes(thrown.code), thrown);
          return [];
        }),
        live(),
      );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        await take({ do: 'remove', file: 'w' });
        for (const one of steps) await take(one);
        const known = untwinned(await everything(index));
        const fresh = open({ readOnly: true });
        await fresh.generate();
        assert.deepEqual(known, untwinned(await everything(fresh)));
        await fresh.close();
      }),
      { numRuns: 25 },
    );
  });
});

/** A declaration that ever had a twin keeps its number, which a fresh index cannot know: the id is made with any of them. */
function untwinned(known: unknown): unknown {
  const { nodes, files } = known as { nodes: QueryNode[]; files: unknown };
  assert.equal(new Set(nodes.map((node) => node.id)).size, nodes.length);
  for (const { id, file: path, ...parts } of nodes) {
    assert.ok(
      Array.from({ length: 60 }).some((_, ordinal) => nodeId(path, { ...parts, ordinal }) === id),
      id,
    );
  }
  return { files, nodes: nodes.map((node) => ({ ...node, id: '' })) };
}

describe('closing', () => {
  test('ends what is running, refuses what comes later, and may be done twice', async (t) => {
    const many = Object.fromEntries(Array.from({ length: 80 }, (_, at) => [`f${at}.ts`, `const v${at} = 1;\n`]));
    const { index } = scratchIndex(t, many);
    const running = index.generate();
    const outcome = running.then(
      () => 'done',
      (thrown) => (isToolError(thrown) ? thrown.details['reason'] : 'other'),
    );
    await index.close();
    assert.equal(await outcome, 'closed');
    await index.close();
    await assert.rejects(index.query({}), /closed/);
    await assert.rejects(index.refresh([]), /closed/);
  });
});
