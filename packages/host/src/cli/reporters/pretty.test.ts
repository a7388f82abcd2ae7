import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { pretty } from './pretty.ts';
import type { ValidationReport } from './report.ts';

const sampleReport = JSON.parse(
  readFileSync(new URL('fixtures/sample-report.json', import.meta.url), 'utf8'),
) as ValidationReport;
const emptyReport: ValidationReport = { violations: [], rules: [], files: 0, duration_ms: 0, scope: 'tree' };

const EXPECTED = `src/a.ts
  2  warning     TODO in a changed line  code.todo.blockers
  3  warning     TODO in a changed line  code.todo.blockers

src/my config.ts
  12  blocking    Secret in staged content: AWS key  secrets.scan  next: load it from the environment

(no file)
  -  suggestion  Message has no type  commit.message.conventional

1 blocking, 2 warnings, 1 suggestion (staged, 7 files, 1235 ms)
4 rules: 1 passed, 2 failed, 1 not applicable
`;

test('pretty groups by file, sorts by line and counts', () => {
  assert.equal(pretty.render(sampleReport), EXPECTED);
});

test('pretty says that there was nothing to say', () => {
  assert.equal(
    pretty.render(emptyReport),
    '0 blocking, 0 warnings, 0 suggestions (tree, 0 files, 0 ms)\n0 rules: 0 passed, 0 failed, 0 not applicable\n',
  );
});

test('pretty has colours only when asked, and the same words then', () => {
  const colored = pretty.render(sampleReport, { colors: true });
  assert.match(colored, /\u001b\[31mblocking/);
  assert.equal(stripVTControlCharacters(colored), EXPECTED);
  assert.equal(pretty.render(sampleReport, { colors: false }), EXPECTED);
});
