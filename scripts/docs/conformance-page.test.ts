import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CASES } from '../../packages/conformance/src/run-suite.ts';
import { conformancePage } from './conformance-page.ts';

const STORED = {
  server: 'some-server',
  version: '1.0.0',
  at: '2026-01-01',
  results: [
    { id: 'edits.bom', outcome: 'passed' },
    { id: 'edits.bytes', outcome: 'failed', detail: 'lost <one> | two' },
    { id: 'journal.crash', outcome: 'not applicable', detail: 'needs journal' },
  ],
} as const;

test('lists every case, and results as they are stored', () => {
  const page = conformancePage([STORED]);
  for (const { id, tries } of CASES) assert.ok(page.includes(`| \`${id}\` | ${tries.slice(0, 6)}`), id);
  assert.match(page, /^\| some-server \| 1\.0\.0 \| 2026-01-01 \| 1 \| 1 \| 1 \|/m);
  assert.match(page, /^\| `edits\.bytes` \| \*\*failed\*\* \|$/m);
  assert.match(page, /^\| `edits\.bom` \| passed \|$/m);
  assert.match(page, /^\| `journal\.crash` \| – \|$/m);
  assert.match(page, /^\| `paths\.nul` \| not run \|$/m);
  assert.ok(page.includes('- `edits.bytes`: lost \\<one\\> | two'));
});

test('lists a server that did not install with the reason, and without a column', () => {
  const page = conformancePage([
    STORED,
    { ...STORED, server: 'absent', note: 'did not install: no version', results: [] },
  ]);
  assert.match(page, /\| absent \|.*did not install: no version/);
  assert.doesNotMatch(page, /^\| case \|.*absent/m);
});
