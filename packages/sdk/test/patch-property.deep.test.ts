import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { applyPatch } from '../src/text/apply-patch.ts';
import { parseUnifiedDiff } from '../src/text/unified-diff.ts';

type Differ = (before: Buffer, after: Buffer, context: number) => Buffer;

function differs(t: TestContext): Record<'git' | 'diff', Differ> {
  const directory = mkdtempSync(join(tmpdir(), 'apply-patch-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const run = (command: string, args: readonly string[]): Buffer => {
    const { stdout, status, error } = spawnSync(command, args, {
      cwd: directory,
      env: { PATH: process.env['PATH'], HOME: directory, GIT_CONFIG_NOSYSTEM: '1' },
    });
    assert.ok(error === undefined && (status === 0 || status === 1), String(error ?? status));
    return stdout;
  };
  const put = (before: Buffer, after: Buffer): void => {
    writeFileSync(join(directory, 'before'), before);
    writeFileSync(join(directory, 'after'), after);
  };
  return {
    git(before, after, context) {
      put(before, after);
      return run('git', ['diff', '--no-index', '--text', '--no-color', `-U${context}`, 'before', 'after']);
    },
    diff(before, after, context) {
      put(before, after);
      return run('diff', ['--text', `-U${context}`, 'before', 'after']);
    },
  };
}

const rawByte = fc.integer({ min: 0, max: 255 }).filter((byte) => byte !== 10);
const content = fc
  .oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom('', '}', '{', '  return x;', '-- old', '++ new', '@@ -1 +1 @@', '\\ No', '\t'),
    },
    { weight: 2, arbitrary: fc.string({ maxLength: 12 }).map((text) => text.replaceAll('\n', '')) },
  )
  .map((text) => Buffer.from(text));
const odd = fc.oneof(
  fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 10))),
  fc.array(rawByte, { minLength: 1, maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom(Buffer.from([0xff, 0xfe]), Buffer.from('\r'), Buffer.from('\0\0'), Buffer.alloc(70_000, 'long ')),
);
const line = fc
  .tuple(
    fc.oneof({ weight: 5, arbitrary: content }, { weight: 1, arbitrary: odd }),
    fc.constantFrom('\n', '\n', '\r\n'),
  )
  .map(([bytes, end]) => Buffer.concat([bytes, Buffer.from(end)]));

interface Edit {
  readonly at: number;
  readonly remove: number;
  readonly insert: readonly Buffer[];
}

const pair = fc
  .record({
    lines: fc.array(line, { maxLength: 40 }),
    edits: fc.array(
      fc.record<Edit>({
        at: fc.nat({ max: 40 }),
        remove: fc.nat({ max: 3 }),
        insert: fc.array(line, { maxLength: 3 }),
      }),
      { maxLength: 4 },
    ),
    hasMark: fc.boolean(),
    beforeEnds: fc.boolean(),
    afterEnds: fc.boolean(),
  })
  .map(({ lines, edits, hasMark, beforeEnds, afterEnds }) => {
    const mark = hasMark ? [Buffer.from('\ufeff')] : [];
    const after: Buffer[] = [...lines];
    for (const { at, remove, insert } of edits) after.splice(at, remove, ...insert);
    return { before: text([...mark, ...lines], beforeEnds), after: text([...mark, ...after], afterEnds) };
  });

function text(lines: readonly Buffer[], ends: boolean): Buffer {
  const whole = Buffer.concat(lines);
  return ends || whole.at(-1) !== 10 ? whole : whole.subarray(0, -1);
}

/** Such a diff knows nothing of the file's line ends: there the style of the file wins over its letter. */
function isStyleKept(before: Buffer, diff: Buffer): boolean {
  return before.includes('\r\n') && !diff.includes(13);
}

for (const program of ['git', 'diff'] as const) {
  test(`a patch made by ${program} gives exactly the other file, in both directions [S0-32]`, (t) => {
    const differ = differs(t)[program];
    fc.assert(
      fc.property(pair, fc.nat({ max: 5 }), ({ before, after }, context) => {
        for (const [from, to] of [
          [before, after],
          [after, before],
        ] as const) {
          const diff = differ(from, to, context);
          if (isStyleKept(from, diff)) continue;
          const { files } = parseUnifiedDiff(diff);
          assert.equal(files.length, from.equals(to) ? 0 : 1);
          for (const file of files) {
            const patched = applyPatch(from, file);
            assert.ok(patched.bytes.equals(to), `${JSON.stringify(diff.toString('latin1'))}`);
            assert.ok(patched.hunks.every((hunk) => hunk.offset === 0 && hunk.match === 'exact'));
          }
        }
      }),
      { numRuns: 250 },
    );
  });
}
