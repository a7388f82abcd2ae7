import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseAddedLines, unquoteName } from './parse-diff.ts';

test('every added line is found with its number, whatever it looks like [S0-65]', () => {
  const line = fc.constantFrom(
    'a',
    'b',
    '',
    '+++ b/x',
    '--- a/x',
    '@@ -1 +1 @@',
    '-x',
    '+x',
    'diff --git a/x b/x',
    '\\ No newline',
  );
  const folder = mkdtempSync(join(tmpdir(), 'tool-runtime-lines-'));
  try {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.array(line, { maxLength: 8 }), (before, after) => {
        writeFileSync(join(folder, 'a'), before.map((text) => `${text}\n`).join(''));
        writeFileSync(join(folder, 'b'), after.map((text) => `${text}\n`).join(''));
        const words = ['diff', '--no-index', '-U0', '--src-prefix=a/', '--dst-prefix=b/', 'a', 'b'];
        const { stdout } = spawnSync('git', words, { cwd: folder, encoding: 'utf8' });
        for (const added of parseAddedLines(stdout)) {
          assert.equal(added.text, after[added.line - 1], JSON.stringify({ before, after, added }));
        }
        const counted = stdout === '' ? 0 : Number(numstat(folder));
        assert.equal(parseAddedLines(stdout).length, counted);
      }),
      { numRuns: 100 },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function numstat(folder: string): string {
  const { stdout } = spawnSync('git', ['diff', '--no-index', '--numstat', 'a', 'b'], { cwd: folder, encoding: 'utf8' });
  return stdout.split('\t')[0] ?? '';
}

test('names in quotes, with octal bytes and with blanks are read back [S0-65]', () => {
  const hunk = '@@ -0,0 +1 @@\n+x\n';
  const names = (written: string) => parseAddedLines(`+++ ${written}\n${hunk}`)[0]?.path;
  assert.equal(names('b/plain.txt'), 'plain.txt');
  assert.equal(names('b/with blank.txt\t'), 'with blank.txt');
  assert.equal(names('"b/\\303\\274\\n\\"q\\".txt"'), 'ü\n"q".txt');
});

test('a plain name stays as it is [S0-42]', () => {
  for (const name of ['a', 'with space', "it's", 'ü', 'a"b', '"']) assert.equal(unquoteName(name), name);
});

test('a quoted name is what git quoted [S0-42]', () => {
  const folder = mkdtempSync(join(tmpdir(), 'unquote-'));
  const git = (words: readonly string[], input = '') =>
    execFileSync('git', words, { cwd: folder, input, stdio: ['pipe', 'pipe', 'ignore'] }).toString('utf8');
  try {
    git(['init', '--quiet']);
    const blob = git(['hash-object', '-w', '--stdin'], 'x').trim();
    const character = fc.oneof(
      fc.constantFrom('"', '\\', '\t', '\n', '\x01', '\x7f', ' ', 'é', '日', '\u{1f600}'),
      fc.string({ minLength: 1, maxLength: 1 }),
    );
    const name = fc
      .array(character, { minLength: 1, maxLength: 12 })
      .map((parts) => parts.join('').replace(/[/\0]|^\.+$/g, '_'));
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 20 }), (names) => {
        git(['read-tree', '--empty']);
        const good = names.filter((one) => !/^\.git/i.test(one) && one.isWellFormed());
        git(['update-index', '-z', '--index-info'], good.map((one) => `100644 ${blob}\tx${one}\0`).join(''));
        const listed = git(['ls-files']).split('\n').filter(Boolean).map(unquoteName);
        assert.deepEqual(listed.sort(), good.map((one) => `x${one}`).sort());
      }),
      { seed: 20_261_115, numRuns: 20 },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
