/** Results for people and programs: lines, a badge, and the table of several servers. */
import type { CaseResult, SuiteResult } from './run-suite.ts';

const WIDTH = { outcome: 16, id: 28 };

export function resultLine({ id, outcome, detail = '' }: CaseResult): string {
  return `${outcome.padEnd(WIDTH.outcome)}${id.padEnd(WIDTH.id)}${detail}`.trimEnd();
}

export function summaryLine({ server, passed, failed, notApplicable }: SuiteResult): string {
  return `${server}: ${passed} passed, ${failed} failed, ${notApplicable} not applicable`;
}

const LABEL = 'tool runtime conformance';
/** Average width of a character in the badge. */
const CHARACTER = 6.6;
const PADDING = 10;

export function badge({ passed, failed }: SuiteResult): string {
  const value = `${passed} of ${passed + failed}`;
  const [left, right] = [LABEL, value].map((text) => Math.round(text.length * CHARACTER + PADDING)) as [number, number];
  const colour = passed + failed === 0 ? '#9f9f9f' : failed === 0 ? '#3c8527' : '#c3432b';
  const text = (x: number, what: string): string => `<text x="${x}" y="14" text-anchor="middle">${what}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${LABEL}: ${value}">`,
    `<title>${LABEL}: ${value}</title>`,
    `<rect width="${left}" height="20" fill="#444"/><rect x="${left}" width="${right}" height="20" fill="${colour}"/>`,
    `<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">`,
    `${text(left / 2, LABEL)}${text(left + right / 2, value)}</g></svg>`,
    '',
  ].join('\n');
}
