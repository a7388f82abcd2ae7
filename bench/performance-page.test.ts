import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Group } from './group.ts';
import { type Report, writePage } from './performance-page.ts';

const GROUPS = ['one', 'two'].map((name): Group => ({ name, summary: `of ${name}`, run: () => Promise.reject() }));

test('the page keeps what an earlier run measured, and takes nothing from a quick run', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'performance-page-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const page = join(folder, 'performance.md');
  const measure = (group: string, measured: number, quick = false): string => {
    const results = mkdtempSync(join(folder, 'results-'));
    const report: Report = {
      ...{ group, quick, at: '2026-01-02T00:00:00Z', machine: { summary: 'Node' }, tables: [] },
      budgets: [{ name: 'rate', atMost: 2, unit: 'x', measured, verdict: 'met' }],
    };
    writeFileSync(join(results, `${group}.json`), JSON.stringify(report));
    writeFileSync(join(results, `${group}.svg`), '<svg></svg>\n');
    writePage(page, GROUPS, results);
    return readFileSync(page, 'utf8');
  };
  const first = measure('one', 1.25);
  assert.match(first, /1\.25 x/);
  assert.match(first, /^Not measured yet: two\.$/m);
  const both = measure('two', 1.5);
  assert.match(both, /1\.25 x/);
  assert.match(both, /1\.5 x/);
  assert.match(both, /^2 budgets met/m);
  assert.match(measure('one', 1.75, true), /1\.25 x/);
});
