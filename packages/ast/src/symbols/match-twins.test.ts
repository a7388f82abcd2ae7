import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { FileFacts } from '../contracts/facts.ts';
import { createEngine } from './engine.ts';
import { matchTwins } from './match-twins.ts';

const engine = createEngine();
after(() => engine.delete());

const PATH = 'src/a.ts';
const A = 'function f(a: string): void;\n';
const B = 'function f(b: number): void;\n';
const C = 'function f(c: boolean): void;\n';

function index(text: string): Promise<FileFacts> {
  return engine.index({ path: PATH, language: 'typescript', bytes: Buffer.from(text) });
}

async function indexBoth(before: string, now: string): Promise<{ old: FileFacts; kept: FileFacts }> {
  const old = await index(before);
  return { old, kept: matchTwins(old, await index(now), PATH) };
}

function idOf(facts: FileFacts, parameter: string): string | undefined {
  return facts.nodes.find((node) => node.signature.includes(`${parameter}:`))?.id;
}

describe('twins [S0-53]', () => {
  test('keep their ids when they change places', async () => {
    const { old, kept } = await indexBoth(A + B, B + A);
    assert.deepEqual([idOf(kept, 'a'), idOf(kept, 'b')], [idOf(old, 'a'), idOf(old, 'b')]);
    assert.equal(
      kept.nodes.some((node) => node.ambiguous === true),
      false,
    );
  });

  test('keep their ids when one of them changes, and the changed one keeps its own', async () => {
    const { old, kept } = await indexBoth(A + B, B + A.replace('void', 'never'));
    assert.deepEqual([idOf(kept, 'a'), idOf(kept, 'b')], [idOf(old, 'a'), idOf(old, 'b')]);
  });

  test('keep their ids when the first of them goes', async () => {
    const { old, kept } = await indexBoth(A + B, B);
    assert.equal(idOf(kept, 'b'), idOf(old, 'b'));
    assert.equal(kept.nodes[0]?.ordinal, 1);
    const later = matchTwins(kept, await index(`// moved\n${B}`), PATH);
    assert.equal(idOf(later, 'b'), idOf(old, 'b'));
  });

  test('keep their ids when another is put before them, which gets a new one', async () => {
    const { old, kept } = await indexBoth(A + B, C + A + B);
    assert.deepEqual([idOf(kept, 'a'), idOf(kept, 'b')], [idOf(old, 'a'), idOf(old, 'b')]);
    assert.equal(new Set(kept.nodes.map((node) => node.id)).size, 3);
    assert.equal(
      kept.nodes.some((node) => node.ambiguous === true),
      false,
    );
  });

  test('are ambiguous when two of them changed at once, and only those', async () => {
    const changed = (text: string): string => text.replace('void', 'never');
    const { kept } = await indexBoth(A + B + C, changed(A) + changed(B) + C);
    assert.deepEqual(
      kept.nodes.map((node) => node.ambiguous === true),
      [true, true, false],
    );
  });

  test('are ambiguous when one went and another changed', async () => {
    const { kept } = await indexBoth(A + B, A.replace('void', 'never'));
    assert.deepEqual(
      kept.nodes.map((node) => node.ambiguous),
      [true],
    );
  });

  test('are left alone in a file that has none', async () => {
    const [old, now] = [await index('function f() {}\n'), await index('function f() { return 1; }\n')];
    assert.equal(matchTwins(old, now, PATH), now);
  });
});
