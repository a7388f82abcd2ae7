import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import * as catalog from './catalog.ts';
import type { ReportedViolation, ValidationReport, ViolationLevel } from './report.ts';

const { github, json, junit, pretty, sarif } = catalog;

test('every reporter is listed under its own name', () => {
  assert.deepEqual(Object.keys(catalog).sort(), ['github', 'json', 'junit', 'pretty', 'sarif']);
  for (const [name, reporter] of Object.entries(catalog)) assert.equal(reporter.name, name);
});

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({
    unit: fc.constantFrom('%', ':', ',', '\r', '\n', '<', '&', '"', ']]>', '\u001b', '\ud800', 'a', '/', ' '),
    maxLength: 12,
  }),
);
/** Workspace-relative, as the contract has it. */
const path = text.filter((one) => one.split('/').every((segment) => segment !== ''));
const level = fc.constantFrom<ViolationLevel>('blocking', 'warning', 'suggestion');
const rule = fc.constantFrom('a.rule', 'b.rule', 'c.rule');
const edit = fc.record({ start_line: fc.integer({ min: -1, max: 9 }), new_text: text }, { requiredKeys: ['new_text'] });
const violation = fc.record(
  {
    rule,
    level,
    message: text,
    path,
    line: fc.integer({ min: 1, max: 5000 }),
    next: text,
    fix: fc.record({ edits: fc.array(edit, { maxLength: 2 }) }),
  },
  { requiredKeys: ['rule', 'level', 'message'] },
) as fc.Arbitrary<ReportedViolation>;

const anyReport: fc.Arbitrary<ValidationReport> = fc.record({
  violations: fc.array(violation, { maxLength: 6 }),
  rules: fc.uniqueArray(
    fc.record({
      id: rule,
      level: level as fc.Arbitrary<string>,
      status: fc.constantFrom<'passed' | 'failed' | 'not_applicable'>('passed', 'failed', 'not_applicable'),
      description: text,
    }),
    { selector: ({ id }) => id, maxLength: 3 },
  ),
  files: fc.nat(),
  duration_ms: fc.nat(),
  scope: text,
});

test('json means the report again and steers no terminal, whatever it holds', () => {
  fc.assert(
    fc.property(anyReport, (report) => {
      const text = json.render(report);
      const { ok: _ok, counts: _counts, ...rest } = JSON.parse(text);
      assert.deepEqual(rest, JSON.parse(JSON.stringify(report)));
      assert.doesNotMatch(text.slice(0, -1), /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
    }),
  );
});

test('github escapes every text so that it can be read back, one line each', () => {
  const undo = (text: string) =>
    text.replace(/%(25|0D|0A|3A|2C)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  fc.assert(
    fc.property(anyReport, (report) => {
      const lines = github.render(report).split('\n').slice(0, -1);
      assert.equal(lines.length, report.violations.length);
      for (const [at, { path, message, next }] of report.violations.entries()) {
        const match = /^::(?:error|warning|notice) ([^:]*)::([^\r\n]*)$/u.exec(lines[at] ?? '');
        assert.ok(match, lines[at]);
        const file = match[1]?.split(',').find((property) => property.startsWith('file='));
        assert.equal(file === undefined ? undefined : undo(file.slice(5)), path);
        assert.equal(undo(match[2] ?? ''), next === undefined ? message : `${message}\nnext: ${next}`);
      }
    }),
  );
});

/** Enough of an XML reader to see that tags nest and nothing is where it must not be. */
function assertWellFormed(text: string): void {
  assert.ok(text.isWellFormed());
  assert.doesNotMatch(text, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/);
  const open: string[] = [];
  const token = /<\?xml [^?]*\?>|<(\/?)([a-z-]+)((?: [a-z]+="[^"<]*")*)(\/?)>|([^<]+)/gy;
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const match = token.exec(text);
    assert.ok(match, `no XML at ${at}: ${text.slice(at, at + 40)}`);
    const [, closes, name, attributes = '', isEmpty, content = ''] = match;
    assert.doesNotMatch(attributes + content, /&(?!(?:amp|lt|gt|quot|#9|#10|#13);)|\]\]>/);
    if (closes === '/') assert.equal(open.pop(), name);
    else if (name !== undefined && isEmpty !== '/') open.push(name);
  }
  assert.deepEqual(open, []);
}

test('junit is well-formed XML whatever the report holds', () => {
  fc.assert(fc.property(anyReport, (report) => assertWellFormed(junit.render(report))));
  assert.throws(() => assertWellFormed('<a b="<"/>'));
  assert.throws(() => assertWellFormed('<a>&x</a>'));
});

test('pretty steers no terminal and keeps one line for each violation, whatever the report holds', () => {
  fc.assert(
    fc.property(anyReport, (report) => {
      const text = pretty.render(report);
      assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
      assert.equal(text.split('\n').filter((line) => line.startsWith('  ')).length >= report.violations.length, true);
      const groups = new Set(report.violations.map(({ path }) => path ?? '')).size;
      assert.equal(text.split('\n').length - 1, report.violations.length + 2 * groups + 2);
    }),
  );
});

test('sarif holds against the schema whatever the report holds', () => {
  const schema = JSON.parse(readFileSync(new URL('fixtures/sarif-parts.schema.json', import.meta.url), 'utf8'));
  const ajv = new Ajv2020({ allErrors: true, strict: true });
  formats.default(ajv, ['uri', 'uri-reference']);
  const isValid = ajv.compile(schema);
  fc.assert(
    fc.property(anyReport, (report) => {
      assert.ok(isValid(JSON.parse(sarif.render(report))), JSON.stringify(isValid.errors));
    }),
  );
});
