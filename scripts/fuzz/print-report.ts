/** A run in words: how much was tried, what became of it, and every finding with the way to see it again. */
import type { TargetReport } from './run-target.ts';

const SHOWN_OUTCOMES = 12;
const SHOWN_LINES = 12;

export function printReport(target: string, seed: number, report: TargetReport): void {
  const { cases, seconds, slowestMs, findings } = report;
  const pace = Math.round(cases / Math.max(seconds, 0.001));
  const facts = [
    `${cases} inputs in ${seconds.toFixed(0)} s`,
    `${pace} a second`,
    `slowest ${slowestMs.toFixed(0)} ms`,
  ];
  console.log(`${target}: ${facts.join(', ')}, ${findings.length} findings (seed ${seed})`);
  console.log(`  ${outcomesOf(report)}`);
  for (const { kind, message, file } of findings) {
    console.log(`  ${kind}: ${message.split('\n').slice(0, SHOWN_LINES).join('\n    ')}`);
    console.log(`  again: npm run fuzz -- ${target} --replay ${file}`);
  }
}

function outcomesOf({ outcomes }: TargetReport): string {
  const sorted = Object.entries(outcomes).toSorted(([, one], [, other]) => other - one);
  const shown = sorted.slice(0, SHOWN_OUTCOMES).map(([name, count]) => `${name} ${count}`);
  const rest = sorted.length - shown.length;
  return [...shown, ...(rest > 0 ? [`${rest} more kinds`] : [])].join(', ');
}
