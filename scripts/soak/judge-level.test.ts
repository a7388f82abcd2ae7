import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeLevel } from './judge-level.ts';

const MB = 1024 * 1024;
const row = (size: (at: number) => number) => Array.from({ length: 40 }, (_, at) => size(at) * MB);

test('what fills up in the first half and stays is level, also with spikes', () => {
  assert.ok(judgeLevel(row((at) => Math.min(300, 100 + 15 * at) + (at % 7 === 0 ? 80 : 0))).isLevel);
});

test('what goes on growing is not level, and neither is what was hardly sampled', () => {
  assert.ok(!judgeLevel(row((at) => 100 + 8 * at)).isLevel);
  assert.ok(!judgeLevel([MB, MB]).isLevel);
});
