import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

const CHILD = join(import.meta.dirname, 'increment-child.ts');
const ROUNDS = 200;

interface Crowd {
  readonly way: 'expected' | 'append' | 'naive';
  readonly processes: number;
  readonly backend?: 'openat2' | 'walk';
}

/** What is in the file after every process has made all its rounds. */
async function outcome(t: TestContext, { way, processes, backend = 'openat2' }: Crowd): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'lost-update-'));
  t.after(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, 'counter'), way === 'append' ? '' : '0');
  const args = ['-C', 'tool-runtime-source', CHILD, directory, way, backend, String(ROUNDS)];
  const children = Array.from({ length: processes }, () =>
    spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  for (const child of children) child.stdin.write('go\n');
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0] as number));
  assert.deepEqual(
    codes,
    codes.map(() => 0),
  );
  if (way !== 'naive') assert.deepEqual(readdirSync(directory), ['counter']);
  return readFileSync(join(directory, 'counter'), 'utf8');
}

for (const backend of ['openat2', 'walk'] as const) {
  for (const processes of [2, 4]) {
    test(`${processes} processes that name the content they expect lose no update (${backend}) [S0-31]`, async (t) => {
      assert.equal(await outcome(t, { way: 'expected', processes, backend }), String(processes * ROUNDS));
    });
  }

  test(`four processes that append lose no line (${backend}) [S0-31]`, async (t) => {
    assert.equal(await outcome(t, { way: 'append', processes: 4, backend }), '+'.repeat(4 * ROUNDS));
  });
}

test('without the lock a comparison right before the rename loses updates [S0-31]', async (t) => {
  assert.ok(Number(await outcome(t, { way: 'naive', processes: 4 })) < 4 * ROUNDS);
});
