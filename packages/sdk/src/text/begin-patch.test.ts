import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { applyPatch } from './apply-patch.ts';
import { isBeginPatch, parseBeginPatch } from './begin-patch.ts';

function parse(...lines: readonly string[]) {
  return parseBeginPatch(Buffer.from(['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n')));
}

function updated(before: string, ...lines: readonly string[]): string {
  const [section] = parse('*** Update File: f', ...lines);
  assert.ok(section);
  return applyPatch(Buffer.from(before), section.patch).bytes.toString();
}

function refused(action: () => unknown): string {
  try {
    action();
  } catch (thrown) {
    if (isToolError(thrown)) return `${thrown.details['reason']}: ${thrown.message}`;
    throw thrown;
  }
  return 'accepted';
}

describe('parseBeginPatch', () => {
  test('reads added, updated, moved and deleted files', () => {
    const sections = parse(
      '*** Add File: new.txt',
      '+one',
      '+',
      '*** Update File: a.ts',
      '*** Move to: b.ts',
      '@@',
      '-x',
      '+y',
      '*** Delete File: old.txt',
      '',
    );
    assert.deepEqual(
      sections.map(({ operation, path, moveTo }) => [operation, path, moveTo]),
      [
        ['add', 'new.txt', undefined],
        ['update', 'a.ts', 'b.ts'],
        ['delete', 'old.txt', undefined],
      ],
    );
    assert.equal(applyPatch(Buffer.alloc(0), (sections[0] as (typeof sections)[0]).patch).bytes.toString(), 'one\n\n');
  });

  test('takes hunks with and without @@, in a fence, and blank lines between the parts', () => {
    assert.equal(updated('a\nb\nc\n', ' a', '-b', '+x', ' c'), 'a\nx\nc\n');
    assert.equal(updated('a\n\nb\nc\n', '@@', ' a', '', '-b', '+x', '', '@@', '-c', '+d', ''), 'a\n\nx\nd\n');
    assert.ok(isBeginPatch('```diff\n*** Begin Patch\n'));
    assert.ok(!isBeginPatch('--- a\n+++ b\n'));
  });

  test('lets the line after @@ decide between places in different blocks, and nothing else', () => {
    const file = 'def f():\n    a()\n    b()\n\ndef g():\n    a()\n    b()\n';
    const hunk = ['     a()', '-    b()', '+    c()'];
    assert.equal(updated(file, '@@ def g():', ...hunk), file.replace(/b\(\)\n$/, 'c()\n'));
    assert.match(
      refused(() => updated(file, '@@', ...hunk)),
      /^hunk_ambiguous/,
    );
    assert.match(
      refused(() => updated(file, '@@ def h():', ...hunk)),
      /^hunk_ambiguous/,
    );
    assert.match(
      refused(() => updated(file.replace('g', 'f'), '@@ def f():', ...hunk)),
      /^hunk_ambiguous/,
    );
  });

  test('takes the end of the file where a hunk says that it is there', () => {
    assert.equal(updated('a\nb\na\n', '-a', '+x', '*** End of File'), 'a\nb\nx\n');
    assert.match(
      refused(() => updated('a\nb\na\n', '-a', '+x')),
      /^hunk_ambiguous/,
    );
  });

  test('refuses what is cut off, has no mark, names a file twice or is empty', () => {
    const cut = Buffer.from('*** Begin Patch\n*** Update File: f\n-a\n');
    assert.match(
      refused(() => parseBeginPatch(cut)),
      /^diff_cut: Patch does not end with \*\*\* End Patch: line 4/,
    );
    assert.match(
      refused(() => parse('*** Update File: f', 'a')),
      /no mark: line 3/,
    );
    assert.match(
      refused(() => parse('*** Add File: f', 'a')),
      /has no \+: line 3/,
    );
    assert.match(
      refused(() => parse('*** Delete File: f', '*** Delete File: f')),
      /names a file twice: f/,
    );
    assert.match(
      refused(() => parse('*** Update File: f')),
      /has no hunk: f/,
    );
    assert.match(
      refused(() => parse('words')),
      /belongs to no file: line 2/,
    );
    assert.match(
      refused(() => parseBeginPatch(Buffer.from('*** Update File: f\n'))),
      /must begin with/,
    );
  });
});
