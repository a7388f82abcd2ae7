/** For people: violations by file, one line each, and the counts below. */
import { styleText } from 'node:util';
import { plainText } from '../../terminal/terminal.ts';
import {
  countLevels,
  type RenderOptions,
  type ReportedViolation,
  type Reporter,
  type ValidationReport,
  type ViolationLevel,
} from './report.ts';

type Style = Parameters<typeof styleText>[0];
type Paint = (style: Style, text: string) => string;

const COLORS: Readonly<Record<ViolationLevel, Style>> = { blocking: 'red', warning: 'yellow', suggestion: 'cyan' };
const LEVEL_WIDTH = 'suggestion'.length;

export const pretty: Reporter = { name: 'pretty', render: renderPretty };

function renderPretty(report: ValidationReport, options: RenderOptions = {}): string {
  // The caller has checked the stream already; styleText must not check stdout again.
  const paint: Paint = (style, text) =>
    options.colors === true ? styleText(style, text, { validateStream: false }) : text;
  const sections = groupByFile(report.violations).map(([path, found]) => renderFile(path, found, paint));
  return `${[...sections, renderSummary(report, paint)].join('\n')}\n`;
}

/** By name; what belongs to no file comes last. */
function groupByFile(violations: ValidationReport['violations']): readonly (readonly [string, ReportedViolation[]])[] {
  const groups = [...Map.groupBy(violations, ({ path }) => path ?? '')];
  return groups.sort(([left], [right]) => {
    if (left === '' || right === '') return left === '' ? 1 : -1;
    return left < right ? -1 : 1;
  });
}

function renderFile(path: string, found: readonly ReportedViolation[], paint: Paint): string {
  const sorted = found.toSorted((left, right) => (left.line ?? 0) - (right.line ?? 0));
  const width = Math.max(1, ...sorted.map(({ line }) => String(line ?? '-').length));
  const heading = paint('underline', path === '' ? '(no file)' : plainText(path));
  return `${[heading, ...sorted.map((violation) => renderViolation(violation, width, paint))].join('\n')}\n`;
}

function renderViolation(violation: ReportedViolation, width: number, paint: Paint): string {
  const { line, level, message, rule, next } = violation;
  const place = paint('dim', String(line ?? '-').padStart(width));
  const grade = paint(COLORS[level], level.padEnd(LEVEL_WIDTH));
  const hint = next === undefined ? '' : paint('dim', `  next: ${plainText(next)}`);
  return `  ${place}  ${grade}  ${plainText(message)}  ${paint('dim', plainText(rule))}${hint}`;
}

function renderSummary(report: ValidationReport, paint: Paint): string {
  const counts = countLevels(report);
  const found = [
    paint(counts.blocking > 0 ? 'red' : 'green', `${counts.blocking} blocking`),
    counted(counts.warning, 'warning'),
    counted(counts.suggestion, 'suggestion'),
  ].join(', ');
  const byStatus = (status: string) => report.rules.filter((rule) => rule.status === status).length;
  const rules = `${byStatus('passed')} passed, ${byStatus('failed')} failed, ${byStatus('not_applicable')} not applicable`;
  const where = `${plainText(report.scope)}, ${counted(report.files, 'file')}, ${Math.round(report.duration_ms)} ms`;
  return `${found} (${where})\n${counted(report.rules.length, 'rule')}: ${rules}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
