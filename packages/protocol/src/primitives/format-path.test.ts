import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatPath } from './format-path.ts';

test('formatPath writes a path as a person would', () => {
  assert.equal(formatPath([]), '');
  assert.equal(formatPath(['args', 'items', 2, 'name']), 'args.items[2].name');
  assert.equal(formatPath([0, 'odd key', 'a.b', '']), '[0]["odd key"]["a.b"][""]');
});

test('formatPath never passes on control characters or long keys', () => {
  assert.equal(formatPath(['a\u001b[31m\n']), '["a\\u{1b}[31m\\n"]');
  assert.equal(formatPath(['k'.repeat(500)]), `["${'k'.repeat(39)}…"]`);
  assert.equal(formatPath(new Array(500).fill(0)), `${'[0]'.repeat(16)}…`);
});
