import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { junit } from './junit.ts';
import type { ValidationReport } from './report.ts';

const sampleReport = JSON.parse(
  readFileSync(new URL('fixtures/sample-report.json', import.meta.url), 'utf8'),
) as ValidationReport;
const emptyReport: ValidationReport = { violations: [], rules: [], files: 0, duration_ms: 0, scope: 'tree' };

test('junit has one case for each rule, and only blocking violations fail it', () => {
  assert.equal(
    junit.render(sampleReport),
    `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="tool-runtime" tests="5" failures="1" errors="0" skipped="1" time="1.235">
  <testsuite name="staged" tests="5" failures="1" errors="0" skipped="1" time="1.235">
    <testcase classname="tool-runtime" name="secrets.scan">
      <failure type="blocking" message="Secret in staged content: AWS key">src/my config.ts:12: blocking: Secret in staged content: AWS key (next: load it from the environment)</failure>
    </testcase>
    <testcase classname="tool-runtime" name="code.todo.blockers">
      <system-out>src/a.ts:3: warning: TODO in a changed line
src/a.ts:2: warning: TODO in a changed line</system-out>
    </testcase>
    <testcase classname="tool-runtime" name="build.must.pass"/>
    <testcase classname="tool-runtime" name="code.no.unwrap">
      <skipped message="not applicable"/>
    </testcase>
    <testcase classname="tool-runtime" name="commit.message.conventional">
      <system-out>suggestion: Message has no type</system-out>
    </testcase>
  </testsuite>
</testsuites>
`,
  );
});

test('junit fails a rule that failed without saying where', () => {
  const rules = [{ id: 'x', level: 'blocking', status: 'failed', description: 'The x holds' }] as const;
  assert.match(junit.render({ ...emptyReport, rules }), /<failure type="blocking" message="Rule failed: The x holds">/);
});

test('junit escapes markup and removes control characters', () => {
  const message = 'a <b> & "c"\u0000\u001b[31m\nd\uffff \ud800]]>';
  const text = junit.render({ ...emptyReport, violations: [{ rule: 'x', level: 'blocking', message }] });
  assert.match(text, /message="a &lt;b&gt; &amp; &quot;c&quot;\[31m&#10;d \ufffd\]\]&gt;"/);
  assert.match(text, />blocking: a &lt;b&gt; &amp; "c"\[31m d \ufffd\]\]&gt;<\/failure>/);
});
