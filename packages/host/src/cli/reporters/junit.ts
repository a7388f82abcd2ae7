/**
 * JUnit XML: one test case for each rule, because CI pages count rules that failed, not lines.
 *
 * Only blocking violations fail a case; the others are in its output. A rule that is not listed gets a case when it was
 * violated.
 */
import type { ReportedRule, ReportedViolation, Reporter, ValidationReport } from './report.ts';

export const junit: Reporter = { name: 'junit', render: renderSuites };

interface Case {
  readonly rule: Pick<ReportedRule, 'id' | 'status' | 'description'>;
  readonly failures: readonly ReportedViolation[];
  readonly remarks: readonly ReportedViolation[];
}

function renderSuites(report: ValidationReport): string {
  const cases = casesOf(report);
  const failed = cases.filter(isFailed).length;
  const skipped = cases.filter(isNotApplicable).length;
  const numbers = `tests="${cases.length}" failures="${failed}" errors="0" skipped="${skipped}" time="${seconds(report)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="tool-runtime" ${numbers}>`,
    `  <testsuite name="${attribute(report.scope)}" ${numbers}>`,
    ...cases.flatMap(renderCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function casesOf({ rules, violations }: ValidationReport): readonly Case[] {
  const byRule = Map.groupBy(violations, ({ rule }) => rule);
  const unlisted = [...byRule.keys()].filter((id) => !rules.some((rule) => rule.id === id));
  const all = [...rules, ...unlisted.map((id) => ({ id, status: 'failed', description: '' }) as const)];
  return all.map((rule) => {
    const found = byRule.get(rule.id) ?? [];
    return {
      rule,
      failures: found.filter(({ level }) => level === 'blocking'),
      remarks: found.filter(({ level }) => level !== 'blocking'),
    };
  });
}

/** A rule that failed without saying where failed all the same. */
function isFailed({ rule, failures, remarks }: Case): boolean {
  return failures.length > 0 || (rule.status === 'failed' && remarks.length === 0);
}

function isNotApplicable(one: Case): boolean {
  return one.rule.status === 'not_applicable' && !isFailed(one) && one.remarks.length === 0;
}

function renderCase(one: Case): readonly string[] {
  const { rule, failures, remarks } = one;
  const head = `    <testcase classname="tool-runtime" name="${attribute(rule.id)}"`;
  const body = [
    ...(isNotApplicable(one) ? ['      <skipped message="not applicable"/>'] : []),
    ...(isFailed(one) ? [renderFailure(rule, failures)] : []),
    ...(remarks.length > 0 ? [`      <system-out>${lines(remarks)}</system-out>`] : []),
  ];
  return body.length === 0 ? [`${head}/>`] : [`${head}>`, ...body, '    </testcase>'];
}

function renderFailure(rule: Case['rule'], failures: Case['failures']): string {
  const [first, ...others] = failures;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  const message = first === undefined ? `Rule failed: ${rule.description || rule.id}` : `${first.message}${more}`;
  return `      <failure type="blocking" message="${attribute(message)}">${lines(failures)}</failure>`;
}

function lines(violations: readonly ReportedViolation[]): string {
  return violations.map((violation) => content(describeViolation(violation))).join('\n');
}

function describeViolation({ path, line, level, message, next }: ReportedViolation): string {
  const place = path === undefined ? '' : `${path}${line === undefined ? '' : `:${line}`}: `;
  const text = `${place}${level}: ${message}${next === undefined ? '' : ` (next: ${next})`}`;
  return text.replace(/[\t\n\r]+/g, ' ');
}

function seconds({ duration_ms: milliseconds }: ValidationReport): string {
  return (milliseconds / 1000).toFixed(3);
}

/** No escape makes these legal in XML 1.0. */
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]/g;

function content(text: string): string {
  return text
    .toWellFormed()
    .replace(FORBIDDEN, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

/** A parser turns bare line breaks of an attribute into blanks. */
function attribute(text: string): string {
  return content(text)
    .replaceAll('"', '&quot;')
    .replace(/[\t\n\r]/g, (blank) => `&#${blank.charCodeAt(0)};`);
}
