/** A patch that was cut off anywhere is refused, or says by itself what git makes of it. It never counts as the whole. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { applyPatch } from '../src/text/apply-patch.ts';
import { parseUnifiedDiff } from '../src/text/unified-diff.ts';

function gitIn(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'patch-truncation-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const env = { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1', GIT_CEILING_DIRECTORIES: tmpdir() };
  const put = (name: string, bytes: Buffer): void => writeFileSync(join(folder, name), bytes);
  return {
    diff(before: Buffer, after: Buffer, context: number): Buffer {
      put('before', before);
      put('after', after);
      const args = ['diff', '--no-index', '--text', '--no-color', `-U${context}`, 'before', 'after'];
      const { stdout, status } = spawnSync('git', args, { cwd: folder, env });
      assert.ok(status === 0 || status === 1);
      return Buffer.from(stdout.toString('latin1').replaceAll(/([ab])\/(?:before|after)/g, '$1/f'), 'latin1');
    },
    /** Undefined when git refuses it. */
    apply(before: Buffer, diff: Buffer): Buffer | undefined {
      put('f', before);
      const args = ['apply', '--unidiff-zero', '--whitespace=nowarn', '-p1', '-'];
      const { status } = spawnSync('git', args, { cwd: folder, env, input: diff });
      return status === 0 ? readFileSync(join(folder, 'f')) : undefined;
    },
  };
}

/** Few different lines, one the beginning of another: a line that lost its end is found elsewhere. */
const line = fc
  .constantFrom('a', 'ab', 'abc', '', '}', '-- x', '++ x', '@@ y', '\\ z', '  b', 'ä')
  .map((text) => `${text}\n`);
const scene = fc.record({
  lines: fc.array(line, { minLength: 1, maxLength: 25 }),
  edits: fc.array(
    fc.record({ at: fc.nat({ max: 25 }), remove: fc.nat({ max: 3 }), insert: fc.array(line, { maxLength: 3 }) }),
    { minLength: 1, maxLength: 3 },
  ),
  context: fc.nat({ max: 3 }),
  isBare: fc.boolean(),
});

function filesOf({ lines, edits, isBare }: Parameters<Parameters<typeof scene.map>[0]>[0]) {
  const after = [...lines];
  for (const { at, remove, insert } of edits) after.splice(at, remove, ...insert);
  const bytes = (all: readonly string[]): Buffer => Buffer.from(isBare ? all.join('').slice(0, -1) : all.join(''));
  return { before: bytes(lines), after: bytes(after) };
}

/** Undefined when it is refused. */
function applied(before: Buffer, diff: Buffer): Buffer | undefined {
  try {
    const { files } = parseUnifiedDiff(diff);
    // The tool refuses a diff of several files.
    if (files.length > 1) return undefined;
    return files.reduce((bytes, patch) => applyPatch(bytes, patch).bytes, before);
  } catch (thrown) {
    assert.ok(isToolError(thrown), String(thrown));
    assert.equal(typeof thrown.details['next'], 'string');
    return undefined;
  }
}

test('a patch cut off at any byte is refused, is still whole, or is what git applies too (deep)', (t) => {
  const git = gitIn(t);
  let [cuts, refused] = [0, 0];
  fc.assert(
    fc.property(scene, (random) => {
      const { before, after } = filesOf(random);
      const diff = git.diff(before, after, random.context);
      if (diff.length === 0) return;
      assert.ok(applied(before, diff)?.equals(after), 'the whole patch applies');
      for (let length = 0; length < diff.length; length++) {
        const cut = diff.subarray(0, length);
        const outcome = applied(before, cut);
        cuts += 1;
        if (outcome === undefined) refused += 1;
        else if (!outcome.equals(after) && !outcome.equals(before)) {
          // Only the line feed behind a whole line may be missing, which git does not allow.
          const theirs = git.apply(before, diff[length] === 10 ? diff.subarray(0, length + 1) : cut);
          assert.ok(theirs?.equals(outcome), `not what git does: ${JSON.stringify(cut.toString('latin1'))}`);
        }
      }
    }),
    { numRuns: 150 },
  );
  assert.ok(cuts > 5_000 && refused > cuts / 2, `${refused} of ${cuts} refused`);
});

test('a hunk with a line too few or too many is refused, whichever line it is', (t) => {
  const git = gitIn(t);
  fc.assert(
    fc.property(scene, fc.nat(), (random, choice) => {
      const { before, after } = filesOf({ ...random, isBare: false });
      const lines = git
        .diff(before, after, random.context)
        .toString('latin1')
        .split(/(?<=\n)/);
      const first = lines.findIndex((each) => each.startsWith('@@'));
      if (first === -1) return;
      const at = first + 1 + (choice % (lines.length - first - 1));
      if (isHeader(lines[at])) return;
      const less = Buffer.from([...lines.slice(0, at), ...lines.slice(at + 1)].join(''), 'latin1');
      const more = Buffer.from([...lines.slice(0, at), lines[at], ...lines.slice(at)].join(''), 'latin1');
      for (const wrong of [less, more]) {
        const outcome = applied(before, wrong);
        if (outcome === undefined) continue;
        // An empty line behind a hunk is space around it, and a lone remark about the newline is repeated for nothing.
        assert.ok(outcome.equals(after), JSON.stringify(wrong.toString('latin1')));
      }
    }),
    { numRuns: 300 },
  );
});

function isHeader(text = ''): boolean {
  return /^@@ -\d/.test(text);
}
