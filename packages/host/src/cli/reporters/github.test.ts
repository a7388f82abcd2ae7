import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { github } from './github.ts';
import type { ValidationReport } from './report.ts';

const sampleReport = JSON.parse(
  readFileSync(new URL('fixtures/sample-report.json', import.meta.url), 'utf8'),
) as ValidationReport;
const emptyReport: ValidationReport = { violations: [], rules: [], files: 0, duration_ms: 0, scope: 'tree' };

test('github writes one annotation for each violation, by level', () => {
  assert.equal(
    github.render(sampleReport),
    `::error file=src/my config.ts,line=12,title=secrets.scan::Secret in staged content: AWS key%0Anext: load it from the environment
::warning file=src/a.ts,line=3,title=code.todo.blockers::TODO in a changed line
::warning file=src/a.ts,line=2,title=code.todo.blockers::TODO in a changed line
::notice title=commit.message.conventional::Message has no type
`,
  );
});

test('github escapes what would end a property or a command', () => {
  const violation = {
    rule: 'a,b:c',
    level: 'blocking',
    message: '100%\r\n::error::forged, still here: yes',
    path: 'C:,%0A.ts',
    line: 1,
  } as const;
  assert.equal(
    github.render({ ...emptyReport, violations: [violation] }),
    '::error file=C%3A%2C%250A.ts,line=1,title=a%2Cb%3Ac::100%25%0D%0A::error::forged, still here: yes\n',
  );
});

test('github writes nothing when nothing was found', () => {
  assert.equal(github.render(emptyReport), '');
});
