import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine } from '../symbols/engine.ts';
import { KeptTrees } from './kept-trees.ts';

test('keeps the trees put last, by number and by size, and frees the others', async (t) => {
  const engine = createEngine();
  t.after(() => engine.delete());
  const trees = new KeptTrees();
  t.after(() => trees.clear());
  const parse = (path: string, text: string) =>
    engine.parse({ path, language: 'typescript', bytes: Buffer.from(text) });
  for (let at = 0; at < 40; at++) trees.put(`f${at}.ts`, await parse(`f${at}.ts`, 'let a;'));
  const kept = Array.from({ length: 40 }, (_, at) => `f${at}.ts`).filter((path) => trees.get(path, 'typescript'));
  assert.deepEqual(
    kept,
    Array.from({ length: 32 }, (_, at) => `f${at + 8}.ts`),
  );
  assert.equal(trees.get('f39.ts', 'python'), undefined);
  const large = `// ${'x'.repeat(3 * 1024 * 1024)}`;
  for (const path of ['large1.ts', 'large2.ts']) trees.put(path, await parse(path, large));
  assert.equal(trees.get('large1.ts', 'typescript'), undefined);
  assert.equal(trees.get('large2.ts', 'typescript')?.tree.rootNode.childCount, 1);
});
