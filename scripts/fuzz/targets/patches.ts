/** Unified diffs on files: all of a diff or nothing of it, and the same outcome as by the book and by git. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { isToolError } from '@tool-runtime/protocol';
import { applyPatch, type PatchedFile } from '../../../packages/sdk/src/text/apply-patch.ts';
import { parseUnifiedDiff, type UnifiedDiff } from '../../../packages/sdk/src/text/unified-diff.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { splitParts } from '../input-parts.ts';
import { fileAndDiff } from '../patch/odd-patches.ts';
import { applyElsewhere, applyStrictly, readStrictly } from '../patch/strict-patch.ts';

/**
 * Starting git takes longer than all the rest: it is asked about diffs that are not by the book, and some of the others.
 * Which ones depends on the input alone, so that a finding is found again.
 */
const GIT_EVERY = 20;
/** Not with `^`, which also stands behind a lone carriage return, where no line begins. */
const HUNK = /(?<![^\n])@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/g;

export const patches: FuzzTarget = {
  name: 'patches',
  holds: 'a diff is applied as the book and git do, or refused with the file untouched',
  maxBytes: 32 * 1024,
  tokens: [
    '--- a/f\n',
    '+++ b/f\n',
    '@@ -1 +1 @@\n',
    '@@ -1,3 +1,3 @@\n',
    '@@ -0,0 +1,2 @@\n',
    '@@\n',
    '\n',
    '\r\n',
    ' ',
    '-',
    '+',
    '\\ No newline at end of file\n',
  ].concat(
    [
      'diff --git a/f b/f\n',
      'index 1..2 100644\n',
      'new file mode 100755\n',
      'deleted file mode 100644\n',
      'rename from f\n',
      '/dev/null',
      '```\n',
      '-- \n2.43.0\n',
    ],
    [
      'GIT binary patch\n',
      '*** Begin Patch\n',
      'Only in x: y\n',
      '\n%%\n',
      '\t',
      '"a/f\\303\\244"',
      '@@@ -1 -1 +1 @@@\n',
      '4294967296',
    ],
  ),
  inputs: fileAndDiff,
  open() {
    const folder = mkdtempSync(join(tmpdir(), 'fuzz-patch-'));
    return {
      check(input) {
        const [before = input, diff = input] = splitParts(input, 2);
        const parsed = attempt(() => parseUnifiedDiff(diff), 'E_VALIDATION_FAIL');
        if (typeof parsed === 'string') return checkRefused(before, diff, parsed);
        if (parsed.files.length !== 1) return `${Math.min(parsed.files.length, 2)} files`;
        const applied = applyWhole(before, parsed);
        if (typeof applied === 'string') return checkRefused(before, diff, applied);
        if (!diff.includes('\n\\ ')) checkLineCount(before, diff, applied);
        const isStrict = checkStrictly(before, diff, applied);
        if (!isStrict || crc32(input) % GIT_EVERY === 0) checkWithGit(folder, { before, diff, applied });
        const words = applied.hunks.map(({ match, offset }) => (offset === 0 ? match : `${match} elsewhere`));
        return `${isStrict ? 'by the book ' : ''}${[...new Set(words)].join(' ')}`;
      },
      measure(input) {
        const [before = input, diff = input] = splitParts(input, 2);
        const parsed = attempt(() => parseUnifiedDiff(diff), 'E_VALIDATION_FAIL');
        if (typeof parsed !== 'string' && parsed.files.length === 1) applyWhole(before, parsed);
      },
      close: () => rmSync(folder, { recursive: true, force: true }),
    };
  },
};

/** The outcome, or the reason of a refusal. */
function attempt<Value>(work: () => Value, code: string): Value | string {
  try {
    return work();
  } catch (thrown) {
    assert.ok(isToolError(thrown), `not a ToolError: ${thrown instanceof Error ? thrown.stack : String(thrown)}`);
    assert.equal(thrown.code, code);
    assert.equal(typeof thrown.details['next'], 'string');
    return `refused ${String(thrown.details['reason'] ?? thrown.message.split(':', 1)[0])}`;
  }
}

function applyWhole(before: Buffer, { files: [patch] }: UnifiedDiff): PatchedFile | string {
  assert.ok(patch !== undefined);
  const copy = Buffer.from(before);
  const applied = attempt(() => applyPatch(copy, patch), 'E_FILE_IO');
  assert.ok(copy.equals(before), 'the old bytes were changed');
  return applied;
}

function checkRefused(before: Buffer, diff: Buffer, refusal: string): string {
  // Stricter than the book: an insertion that shows only one side of its place may be short of a line.
  if (refusal === 'refused hunk_open') return refusal;
  assert.deepEqual(strictly(before, diff), {}, `by the book it applies, but it was ${refusal}`);
  return refusal;
}

/** What the book makes of it: at the stated lines, or else where a single hunk fits and nowhere else. */
function strictly(before: Buffer, diff: Buffer): { readonly stated?: string; readonly elsewhere?: string } {
  // Such a diff knows nothing of the file's line ends: there the style of the file wins over its letter.
  const hunks = before.includes('\r\n') && !diff.includes(13) ? undefined : readStrictly(diff.toString('latin1'));
  if (hunks === undefined) return {};
  const text = before.toString('latin1');
  const stated = applyStrictly(text, hunks);
  if (stated !== undefined) return { stated };
  const elsewhere = applyElsewhere(text, hunks);
  return elsewhere === undefined ? {} : { elsewhere };
}

/** True when the diff is by the book. */
function checkStrictly(before: Buffer, diff: Buffer, { bytes, hunks }: PatchedFile): boolean {
  const { stated, elsewhere } = strictly(before, diff);
  const isExact = hunks.every(({ match }) => match === 'exact');
  // Nearly right at the stated lines comes before exactly right elsewhere.
  const expected = stated ?? (isExact ? elsewhere : undefined);
  if (expected !== undefined) {
    assert.equal(bytes.toString('latin1'), expected, 'by the book something else comes out');
    assert.ok(hunks.every(({ offset }) => (offset === 0) === (stated !== undefined)));
    return stated !== undefined;
  }
  const isMoved = isExact && hunks.length === 1 && hunks.some(({ offset }) => offset !== 0);
  const isStrict = before.length > 0 && !before.includes(13) && readStrictly(diff.toString('latin1')) !== undefined;
  assert.ok(!(isMoved && isStrict), 'a place was chosen among several');
  return false;
}

/** No line is lost or joined to another. */
function checkLineCount(before: Buffer, diff: Buffer, { bytes, hunks }: PatchedFile): void {
  const changed = hunks.reduce((sum, { added, removed }) => sum + added - removed, 0);
  const expected = countLines(before) + changed;
  // An empty line at the end of a file without a final newline does not exist.
  const isShort = before.at(-1) !== 10 && /^\+\r?$/m.test(diff.toString('latin1'));
  assert.ok([expected, isShort ? expected - 1 : expected].includes(countLines(bytes)), 'lines were lost or joined');
}

function countLines(bytes: Buffer): number {
  return bytes.toString('latin1').match(/[^\n]*\n|[^\n]+$/g)?.length ?? 0;
}

interface Application {
  readonly before: Buffer;
  readonly diff: Buffer;
  readonly applied: PatchedFile;
}

/** Where git applies a diff for this one file at the stated lines too, it gets the same. */
function checkWithGit(folder: string, { before, diff, applied }: Application): void {
  if (!applied.hunks.every(({ offset, match }) => offset === 0 && match === 'exact') || !isPlain(diff)) return;
  writeFileSync(join(folder, 'f'), before);
  const { status } = spawnSync('git', ['apply', '--unidiff-zero', '--whitespace=nowarn', '-p1', '-'], {
    cwd: folder,
    input: diff,
    env: { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1', GIT_CEILING_DIRECTORIES: tmpdir() },
  });
  if (status !== 0) return;
  const theirs = readFileSync(join(folder, 'f'), 'latin1');
  assert.equal(applied.bytes.toString('latin1'), theirs, 'git makes something else of it');
}

/**
 * Names this one file and nothing else, its new line numbers follow from the old ones (git goes by the new), its counts are
 * right (git passes over lines beyond them), and no line follows one that is said to end the file.
 */
function isPlain(diff: Buffer): boolean {
  const text = diff.toString('latin1');
  if (!/^--- a\/f\n\+\+\+ b\/f\n@@ /.test(text)) return false;
  if (/^(?:diff|rename|copy|new|deleted|old|index|similarity|GIT) /m.test(text)) return false;
  // Git reads every remark of some length, and passes over shorter ones.
  if (/^\\(?! No newline at end of file$)/m.test(text)) return false;
  if (/^(?!-[^\n]*\n\\[^\n]*\n\+)[^\n]*\n\\[^\n]*\n[ +@-]/m.test(text)) return false;
  // Where all of a hunk is removed git looks a line too early first, and there takes a last line without its newline for
  // any that begins like it: of two equal lines the first goes, and the end of the file with it. GNU patch does as we do.
  if (/^@@[^\n]*,0+ @@[^\n]*\n(?:-[^\n]*\n)+\\/m.test(text)) return false;
  // Every hunk that is to stand before the first line git puts at the very beginning, so that of two the second comes first,
  // whatever their new line numbers say. GNU patch does as we do.
  if (/^@@ -0+\b[\s\S]*^@@ -0+\b/m.test(text)) return false;
  const hunks = [...text.matchAll(HUNK)];
  return text.match(/(?<![^\n])@@/g)?.length === hunks.length && areRight(hunks, text.split('\n').slice(2));
}

function areRight(headers: readonly RegExpExecArray[], lines: readonly string[]): boolean {
  const marked = (marks: string): number =>
    lines.filter((line) => line !== '' && marks.includes(line.charAt(0))).length;
  let [shift, oldLines, newLines] = [0, 0, 0];
  for (const [, old, oldCount = '1', fresh, freshCount = '1'] of headers) {
    const start = Number(old) + (Number(oldCount) === 0 ? 1 : 0);
    const begins = Number(fresh) + (Number(freshCount) === 0 ? 1 : 0);
    if (begins !== start + shift) return false;
    shift += Number(freshCount) - Number(oldCount);
    oldLines += Number(oldCount);
    newLines += Number(freshCount);
  }
  return oldLines === marked(' -') && newLines === marked(' +');
}
