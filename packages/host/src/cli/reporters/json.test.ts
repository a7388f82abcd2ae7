import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { json } from './json.ts';
import type { ValidationReport } from './report.ts';

const sampleReport = JSON.parse(
  readFileSync(new URL('fixtures/sample-report.json', import.meta.url), 'utf8'),
) as ValidationReport;
const emptyReport: ValidationReport = { violations: [], rules: [], files: 0, duration_ms: 0, scope: 'tree' };

test('json is one line with the verdict, the counts and the whole report', () => {
  const text = json.render(sampleReport);
  assert.equal(text.indexOf('\n'), text.length - 1);
  const counts = { blocking: 1, warning: 2, suggestion: 1 };
  assert.deepEqual(JSON.parse(text), { ok: false, counts, ...sampleReport });
  assert.equal(JSON.parse(json.render(emptyReport)).ok, true);
});
