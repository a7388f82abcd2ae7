import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { unquoteName } from './unquote-name.ts';

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
