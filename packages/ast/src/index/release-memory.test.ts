import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** Fills the heap with what dies, and prints its size in MB before and after. */
const PROGRAM = `
import { releaseMemory } from ${JSON.stringify(fileURLToPath(new URL('release-memory.ts', import.meta.url)))};
let kept = Array.from({ length: 1_000_000 }, (_, at) => ({ at, text: 'x' + at }));
kept = undefined;
const size = () => Math.round(process.memoryUsage().heapTotal / 1e6);
const before = size();
releaseMemory(Number(process.argv[1]));
console.log(JSON.stringify([before, size(), typeof globalThis.gc]));
`;

function run(bytes: number): readonly [before: number, after: number, gc: string] {
  const args = ['--conditions=tool-runtime-source', '--input-type=module', '--eval', PROGRAM, String(bytes)];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.notEqual(stdout, '', stderr);
  return JSON.parse(stdout) as readonly [number, number, string];
}

describe('memory after a bulk run', () => {
  test('goes back to the system, and the collector is not left behind', () => {
    const [before, after, gc] = run(100 * 1024 * 1024);
    assert.ok(after < before / 2, `${before} to ${after} MB`);
    assert.equal(gc, 'undefined');
  });

  test('is left alone after a few files', () => {
    const [before, after] = run(1024);
    assert.equal(after, before);
  });
});
