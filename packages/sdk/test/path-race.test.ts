/**
 * An attacker swaps a folder for a link to outside while we open paths through it.
 *
 * The naive check is run first and must lose, which proves that the attack is real on this machine.
 */
import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { openRoot } from '../src/platform/descriptors/root.ts';
import { createWorkspace } from '../src/platform/files/workspace.ts';
import { startAttacker } from './swapping-attacker.ts';

const CANARY = 'outside';
const MAX_NAIVE_ROUNDS = 500_000;
/** A refusal takes microseconds and a write far longer, so rounds are counted by what got through. */
const MAX_ROUNDS = 100_000;
const READS = 5000;
const WRITES = 150;

interface Arena {
  readonly inside: string;
  readonly outside: string;
}

async function arena(t: TestContext): Promise<Arena> {
  const base = mkdtempSync(join(tmpdir(), 'race-'));
  const [inside, outside] = [join(base, 'inside'), join(base, 'outside')];
  mkdirSync(join(inside, 'folder/deep'), { recursive: true });
  mkdirSync(join(outside, 'deep'), { recursive: true });
  writeFileSync(join(inside, 'folder/deep/file'), 'inside');
  writeFileSync(join(outside, 'deep/file'), CANARY);
  symlinkSync('../outside', join(inside, 'trap'));
  const stopAttacker = await startAttacker(inside);
  t.after(async () => {
    await stopAttacker();
    rmSync(base, { recursive: true, force: true });
  });
  return { inside, outside };
}

/** Everything below the outside folder, by name and content. */
function outsideState(outside: string): string[] {
  return readdirSync(outside, { recursive: true, withFileTypes: true })
    .map((entry) =>
      entry.isFile() ? `${entry.name}=${readFileSync(join(entry.parentPath, entry.name), 'utf8')}` : entry.name,
    )
    .sort();
}

const UNTOUCHED = ['deep', `file=${CANARY}`];

test('checking the real path and then opening it loses the race [S0-14]', async (t) => {
  const { inside } = await arena(t);
  const path = join(inside, 'folder/deep/file');
  let escaped = 0;
  for (let round = 0; round < MAX_NAIVE_ROUNDS && escaped === 0; round++) {
    try {
      if (realpathSync.native(path).startsWith(`${inside}/`) && readFileSync(path, 'utf8') === CANARY) escaped += 1;
    } catch {
      // Mid-swap there may be nothing to open.
    }
  }
  assert.notEqual(escaped, 0);
});

for (const backend of ['openat2', 'walk'] as const) {
  /** Each answer counted: the content read, or the code it was refused with. */
  const play = async (
    t: TestContext,
    wanted: number,
    act: (workspace: ReturnType<typeof createWorkspace>, round: number) => unknown,
  ) => {
    const { inside, outside } = await arena(t);
    const root = openRoot(inside, { backend });
    t.after(root.close);
    const workspace = createWorkspace(root);
    const answers = new Map<string, number>();
    for (let round = 0; round < MAX_ROUNDS && (answers.get('inside') ?? 0) < wanted; round++) {
      let answer: string;
      try {
        answer = String(await act(workspace, round));
      } catch (thrown) {
        if (!isToolError(thrown)) throw thrown;
        answer = thrown.code;
      }
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
    t.diagnostic(JSON.stringify(Object.fromEntries(answers)));
    assert.deepEqual(outsideState(outside), UNTOUCHED);
    // Both sides of the swap were met, so the race was on.
    assert.ok(answers.has('inside') && answers.has('E_POLICY'));
    return [...answers.keys()].filter((answer) => !['inside', 'E_POLICY', 'E_FILE_IO'].includes(answer));
  };

  test(`${backend} never reads outside while the folder is swapped [S0-14]`, async (t) => {
    const paths = ['folder/deep/file', 'folder/deep/../deep/file', 'folder/../folder/deep/file'];
    const strange = await play(t, READS, async (workspace, round) => {
      const { bytes } = await workspace.readFile(paths[round % paths.length] ?? '');
      return Buffer.from(bytes).toString();
    });
    assert.deepEqual(strange, []);
  });

  test(`${backend} never writes, makes folders or removes outside while the folder is swapped [S0-31 S0-34]`, async (t) => {
    const strange = await play(t, WRITES, async (workspace, round) => {
      const name = `folder/deep/new-${round % 7}`;
      if (round % 5 === 0) await workspace.removeFile('folder/deep/new-1');
      else if (round % 5 === 1) await workspace.writeFile(`${name}-folder/a/b`, Buffer.from('x'), { createDirs: true });
      else await workspace.writeFile(name, Buffer.from('x'), round % 5 === 2 ? { durable: true } : {});
      return 'inside';
    });
    assert.deepEqual(strange, []);
  });
}
