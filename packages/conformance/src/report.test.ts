import assert from 'node:assert/strict';
import { test } from 'node:test';
import { badge, resultLine, summaryLine } from './report.ts';

const RESULT = {
  server: 'mine',
  protocol: 'mcp',
  command: 'node mine.js',
  passed: 3,
  failed: 1,
  notApplicable: 2,
  results: [],
} as const;

test('prints a line for each case and one for all', () => {
  assert.equal(resultLine({ id: 'edits.bom', outcome: 'passed' }), 'passed          edits.bom');
  assert.match(resultLine({ id: 'a.b', outcome: 'failed', detail: 'lost' }), /^failed {10}a\.b +lost$/);
  assert.equal(summaryLine(RESULT), 'mine: 3 passed, 1 failed, 2 not applicable');
});

test('draws a badge whose colour says whether something failed', () => {
  assert.match(badge(RESULT), /^<svg [\s\S]*3 of 4[\s\S]*<\/svg>\n$/);
  assert.notEqual(badge(RESULT).match(/fill="#c3432b"/), null);
  assert.notEqual(badge({ ...RESULT, failed: 0 }).match(/fill="#3c8527"/), null);
});
