import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nearestName } from './nearest-name.ts';

const known = ['file_read', 'file_write', 'fs_list', 'grep', 'git_status'];

test('S1-17 finds the name a few edits away', () => {
  for (const [wrong, right] of [
    ['file_red', 'file_read'],
    ['flie_read', 'file_read'],
    ['file-write', 'file_write'],
    ['grap', 'grep'],
    ['gitstatus', 'git_status'],
  ] as const) {
    assert.equal(nearestName(wrong, known), right);
  }
});

test('S1-17 finds nothing for short, long or distant names', () => {
  for (const wrong of ['', 'g', 'curl', 'shell_exec', 'f'.repeat(65)])
    assert.equal(nearestName(wrong, known), undefined);
  assert.equal(nearestName('grep', []), undefined);
});

test('S1-17 one dropped letter of a longer name still finds it', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 4, maxLength: 40, unit: 'grapheme-ascii' }), fc.nat(), (name, seed) => {
      const at = seed % name.length;
      assert.equal(nearestName(name.slice(0, at) + name.slice(at + 1), [name]), name);
    }),
  );
});

test('S1-17 the closest of several names wins', () => {
  assert.equal(nearestName('file_reads', ['file_redo', 'file_read', 'file_bread']), 'file_read');
});
