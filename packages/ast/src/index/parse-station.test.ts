import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { live, scratchIndex } from '../../test/scratch-index.ts';
import { createEngine } from '../symbols/engine.ts';
import { FactsView } from './facts-view.ts';
import { followChanges } from './follow-changes.ts';
import { createIndexParts } from './index-parts.ts';
import { KeptTrees, ParseStation } from './parse-station.ts';

const jobOf = (path: string, text: string) => ({ path, language: 'typescript', bytes: Buffer.from(text) });

function newStation(t: TestContext): ParseStation {
  const station = new ParseStation({ size: 1, heapMb: 256 });
  t.after(() => station.close());
  return station;
}

test('a file that is only parsed gives the same facts later, for as long as its tree is kept [S0-53]', async (t) => {
  const station = newStation(t);
  const job = jobOf('a.ts', 'export function a() { b(); }\nfunction (\n');
  const later = await station.parseOnly(job, live());
  assert.ok('unread' in later);
  const read = later.unread.read(undefined);
  assert.ok(read !== undefined && 'packed' in read);
  assert.deepEqual(later.unread.problems.problems, new FactsView(read.packed).problems());
  assert.deepEqual(read, await station.parse(job, { isBulk: false, signal: live() }));
  assert.equal(later.unread.read(undefined), undefined, 'the second parse put its own tree in the place');
});

test('a tree that goes to make room can be read for the last time [S0-53]', async (t) => {
  const station = newStation(t);
  const first = await station.parseOnly(jobOf('first.ts', 'let first;'), live());
  assert.ok('unread' in first);
  const { unread } = first;
  const told: [string, boolean][] = [];
  station.onEviction((path) => told.push([path, unread.read(undefined) !== undefined]));
  for (let at = 0; at < 32; at++) await station.parseOnly(jobOf(`f${at}.ts`, 'let a;'), live());
  assert.deepEqual(told, [['first.ts', true]]);
  assert.equal(unread.read(undefined), undefined);
});

test('files whose trees were lost before their facts were read are parsed again [S0-53]', async (t) => {
  const { workspace } = scratchIndex(t);
  const parts = createIndexParts({ workspace, workers: 1 });
  t.after(async () => {
    await parts.indexer.close();
    await parts.station.close();
    await parts.store.close();
  });
  await parts.loaded;
  const change = await workspace.writeFile('a.ts', Buffer.from('const a = 1;\nconst b = 2;\n'));
  await followChanges([change], parts, live());
  parts.station.forget('a.ts');
  assert.equal(parts.indexer.settleNow(), false);
  assert.equal(parts.table.get('a.ts')?.nodeCount, 0);
  await parts.indexer.settle();
  assert.equal(parts.table.get('a.ts')?.nodeCount, 2);
  assert.equal(parts.indexer.settleNow(), true);
});

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
