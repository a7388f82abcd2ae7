import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { ReportedViolation, ValidationReport } from './report.ts';
import { readEdits, sarif } from './sarif.ts';

const sampleReport = JSON.parse(
  readFileSync(new URL('fixtures/sample-report.json', import.meta.url), 'utf8'),
) as ValidationReport;
const emptyReport: ValidationReport = { violations: [], rules: [], files: 0, duration_ms: 0, scope: 'tree' };

const schema = JSON.parse(readFileSync(new URL('fixtures/sarif-parts.schema.json', import.meta.url), 'utf8'));
const ajv = new Ajv2020({ allErrors: true, strict: true });
formats.default(ajv, ['uri', 'uri-reference']);
const isValid = ajv.compile(schema);

function assertValid(log: unknown): void {
  assert.ok(isValid(log), JSON.stringify(isValid.errors));
}

// biome-ignore lint/suspicious/noExplicitAny: the log is foreign data that the assertions walk through
function runOf(violations: readonly ReportedViolation[]): any {
  const log = JSON.parse(sarif.render({ ...sampleReport, violations }));
  assertValid(log);
  return log.runs[0];
}

test('sarif gives rules, levels, places and fixes in the standard form', () => {
  const { tool, results, properties } = runOf(sampleReport.violations);
  assert.deepEqual(tool.driver.rules[0], {
    id: 'secrets.scan',
    shortDescription: { text: 'Staged content holds no secrets' },
    defaultConfiguration: { level: 'error' },
    properties: { status: 'failed' },
  });
  const { partialFingerprints, ...todo } = results[1];
  assert.match(partialFingerprints['toolRuntime/v1'], /^[0-9a-f]{64}$/);
  const artifactLocation = { uri: 'src/a.ts', uriBaseId: '%SRCROOT%' };
  assert.deepEqual(todo, {
    ruleId: 'code.todo.blockers',
    ruleIndex: 1,
    level: 'warning',
    message: { text: 'TODO in a changed line' },
    locations: [{ physicalLocation: { artifactLocation, region: { startLine: 3 } } }],
    fixes: [
      {
        artifactChanges: [
          {
            artifactLocation,
            replacements: [
              {
                deletedRegion: { startLine: 3, endLine: 4, startColumn: 1, endColumn: 1 },
                insertedContent: { text: '' },
              },
            ],
          },
        ],
      },
    ],
  });
  assert.deepEqual(properties, { scope: 'staged', files: 7, duration_ms: 1234.6 });
});

test('sarif describes a rule that only a violation names, and needs no place', () => {
  const { tool, results } = runOf(sampleReport.violations);
  const { ruleIndex, level, locations } = results[3];
  assert.deepEqual(
    [tool.driver.rules[ruleIndex].id, level, locations],
    ['commit.message.conventional', 'note', undefined],
  );
});

test('sarif percent-encodes paths, segment by segment', () => {
  const uriOf = (path: string) =>
    runOf([{ rule: 'x', level: 'blocking', message: 'm', path }]).results[0].locations[0].physicalLocation
      .artifactLocation.uri;
  assert.equal(uriOf('src/my config#1?.ts'), 'src/my%20config%231%3F.ts');
  assert.equal(uriOf('grüße/100%/a:b.ts'), 'gr%C3%BC%C3%9Fe/100%25/a%3Ab.ts');
});

test('sarif keeps the fingerprint when only the line moves, and tells equal findings apart', () => {
  const violation = { rule: 'x', level: 'blocking', message: 'm', path: 'a.ts', line: 1 } as const;
  const printsOf = (violations: readonly ReportedViolation[]) =>
    runOf(violations).results.map(
      (result: { partialFingerprints: object }) => Object.values(result.partialFingerprints)[0],
    );
  const [first, second] = printsOf([violation, violation]);
  assert.notEqual(first, second);
  assert.deepEqual(printsOf([{ ...violation, line: 90 }, violation]), [first, second]);
  assert.notEqual(printsOf([{ ...violation, path: 'b.ts' }])[0], first);
});

test('sarif leaves out fixes that are no edits', () => {
  const violation = {
    rule: 'x',
    level: 'blocking',
    message: 'm',
    path: 'a.ts',
    fix: { command: 'npm run fix' },
  } as const;
  assert.equal('fixes' in runOf([violation]).results[0], false);
});

test('sarif holds against the schema when nothing was found', () => {
  assertValid(JSON.parse(sarif.render(emptyReport)));
});

test('the schema refuses what SARIF refuses', () => {
  const broken = (change: (log: ReturnType<typeof JSON.parse>) => void) => {
    const log = JSON.parse(sarif.render(sampleReport));
    change(log);
    return isValid(log);
  };
  assert.equal(
    broken(() => {}),
    true,
  );
  assert.equal(
    broken((log) => {
      log.version = '2.0.0';
    }),
    false,
  );
  assert.equal(
    broken((log) => {
      log.runs[0].results[0].level = 'blocking';
    }),
    false,
  );
  assert.equal(
    broken((log) => {
      log.runs[0].results[0].locations[0].physicalLocation.region.startLine = 0;
    }),
    false,
  );
  assert.equal(
    broken((log) => {
      log.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri = 'my config';
    }),
    false,
  );
  assert.equal(
    broken((log) => {
      delete log.runs[0].results[0].message;
    }),
    false,
  );
});

test('edits are read with the file and the end line that they leave out', () => {
  assert.deepEqual(readEdits({ path: 'a.ts', fix: { edits: [{ start_line: 2, new_text: 'x' }] } }), [
    { file: 'a.ts', startLine: 2, endLine: 2, newText: 'x' },
  ]);
  const edit = { file: 'b.ts', start_line: 1, start_col: 3, end_line: 2, end_col: 1, new_text: '' };
  assert.deepEqual(readEdits({ path: 'a.ts', fix: { edits: [edit] } }), [
    { file: 'b.ts', startLine: 1, startColumn: 3, endLine: 2, endColumn: 1, newText: '' },
  ]);
});

test('a fix with one edit that cannot be read is no edit', () => {
  const good = { start_line: 2, new_text: 'x' };
  for (const bad of [
    7,
    {},
    { start_line: 0, new_text: 'x' },
    { start_line: 1.5, new_text: 'x' },
    { start_line: 2, end_line: 1, new_text: 'x' },
    { start_line: 2 },
    { start_line: 2, start_col: 1, new_text: 'x' },
    { start_line: 2, start_col: 4, end_col: 3, new_text: 'x' },
    { start_line: 2, file: '', new_text: 'x' },
  ]) {
    assert.equal(readEdits({ path: 'a.ts', fix: { edits: [good, bad] } }), undefined, JSON.stringify(bad));
  }
  assert.equal(readEdits({ fix: { edits: [good] } }), undefined);
  assert.equal(readEdits({ path: 'a.ts', fix: { edits: [] } }), undefined);
  assert.equal(readEdits({ path: 'a.ts', fix: { command: 'npm run format' } }), undefined);
  assert.equal(readEdits({ path: 'a.ts' }), undefined);
});
