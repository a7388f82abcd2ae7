/**
 * Random calls on files, killed at random points, with random writes of others before the retry: the effect comes at most
 * once, what others wrote is never overwritten, and every further retry gives the same answer.
 */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { sha256Hex } from '../src/platform/digest.ts';
import { filesOf } from './git-state.ts';
import { crash } from './given-up-call.ts';
import { openOn, POINTS, type Point, retryIn, withoutHurry } from './keyed-crash.ts';

const NAMES = ['a', 'b', 'd/c'] as const;
const TEXTS = ['', 'one\n', 'two\n'] as const;
const name = fc.constantFrom(...NAMES);
const text = fc.constantFrom(...TEXTS);

interface Call {
  readonly tool: string;
  readonly args: JsonObject;
}

const call: fc.Arbitrary<Call> = fc.oneof(
  fc
    .record({ path: name, content: text, append: fc.boolean(), mode_octal: fc.option(fc.constant('0600')) })
    .map(({ mode_octal, ...args }) => ({
      tool: 'file_write',
      args: { ...args, ...(mode_octal === null ? {} : { mode_octal }) },
    })),
  fc.record({ path: name, content: text, expected: fc.option(text) }).map(({ path, content, expected }) => ({
    tool: 'file_write',
    args: { path, content, expected_sha256: expected === null ? null : sha256Hex(expected) },
  })),
  fc
    .record({ path: name, content: text, create_only: fc.constant(true) })
    .map((args) => ({ tool: 'file_write', args })),
  fc.record({ path: name, from: fc.constantFrom('one', 'two') }).map(({ path, from }) => ({
    tool: 'file_patch',
    args: { path, unified_diff: `--- a/${path}\n+++ b/${path}\n@@ -1 +1,2 @@\n ${from}\n+patched\n` },
  })),
  fc
    .record({ path: fc.constantFrom(...NAMES, 'd'), recursive: fc.boolean(), force: fc.boolean() })
    .map((args) => ({ tool: 'fs_delete', args })),
  fc
    .record({ src: fc.constantFrom(...NAMES, 'd'), dst: fc.constantFrom(...NAMES, 'e'), overwrite: fc.boolean() })
    .chain((args) => fc.constantFrom('fs_move', 'fs_copy').map((tool) => ({ tool, args }))),
);

/** What another program does between crash and retry. */
type Write =
  | { readonly path: string; readonly content: string }
  | { readonly path: string; readonly mode: number }
  | { readonly path: string; readonly same: true };

const write: fc.Arbitrary<Write> = fc.oneof(
  fc.record({ path: name, content: fc.constantFrom(...TEXTS, 'of somebody else\n') }),
  fc.record({ path: name, mode: fc.constantFrom(0o600, 0o640) }),
  fc.record({ path: name, same: fc.constant(true as const) }),
);

function apply(workspace: string, given: Write): void {
  const path = join(workspace, given.path);
  if ('content' in given) {
    // In the place of what a call may have made of the folder.
    if (!existsSync(join(workspace, 'd')) && given.path.startsWith('d/')) return;
    if (existsSync(path) && !statSync(path).isFile()) return;
    writeFileSync(path, given.content);
  } else if (!existsSync(path)) return;
  else if ('mode' in given) chmodSync(path, given.mode);
  else utimesSync(path, 1, 1);
}

const LOST: readonly Point[] = ['after-intent', 'after-effect'];

test('whatever is called, killed and written meanwhile: at most one effect, nothing overwritten [S1-42 S1-43]', async () => {
  const ends = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(name, text),
      call,
      fc.constantFrom(...POINTS),
      fc.array(write, { maxLength: 2 }),
      async (files, made, point, writes) => {
        const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-keyed-'));
        const workspace = join(scratch, 'work');
        mkdirSync(join(workspace, 'd'), { recursive: true });
        for (const [path, content] of Object.entries(files)) writeFileSync(join(workspace, path), content);
        const before = filesOf(workspace);
        try {
          const lost = await crash(
            { workspace, state: join(scratch, 'state'), registry: withoutHurry('version: 1\n', [made.tool]), ...made },
            point,
          );
          const crashed = filesOf(workspace);
          for (const one of writes) apply(workspace, one);
          const found = filesOf(workspace);
          const host = await openOn(lost);
          const first = await retryIn(host, lost);
          const after = filesOf(workspace);
          const again = await retryIn(host, lost);
          await host.close();
          const where = JSON.stringify({ files, made, point, writes, first });
          const isUnknown = first.errors[0]?.details?.['reason'] === 'outcome_unknown';
          const isUntouched = JSON.stringify(after) === JSON.stringify(found);
          const hadEffect = JSON.stringify(crashed) !== JSON.stringify(before);
          const end = isUnknown ? 'unknown' : isUntouched ? 'answered' : 'ran';
          ends.set(`${point} ${end}`, (ends.get(`${point} ${end}`) ?? 0) + 1);
          // One effect in all: a call that had it does nothing more, and an unclear one does nothing at all.
          if (hadEffect || isUnknown) assert.ok(isUntouched, where);
          if (isUnknown) assert.ok(LOST.includes(point), where);
          // Nothing is overwritten: a lost call changes only what is as it was.
          const names = LOST.includes(point) ? Object.keys({ ...found, ...after }) : [];
          for (const one of names) if (after[one] !== found[one]) assert.equal(found[one], before[one], where);
          if (point === 'after-result' || (point === 'after-effect' && first.ok)) {
            assert.deepEqual(first.data, lost.answer, where);
          }
          assert.deepEqual([again.ok, again.data, filesOf(workspace)], [first.ok, first.data, after], where);
        } finally {
          rmSync(scratch, { recursive: true, force: true });
        }
      },
    ),
    { seed: 20_261, numRuns: 150 },
  );
  // The search came to every end there is.
  for (const end of ['before-intent ran', 'after-intent ran', 'after-intent unknown', 'after-effect answered']) {
    assert.ok((ends.get(end) ?? 0) > 0, `${end}: ${JSON.stringify([...ends])}`);
  }
});
