/** What a set of the conformance suite found, for people. */
import type { SuiteResult } from '../../packages/host/test/mcp/conformance/run-suite.ts';

export function printHeading(): void {
  console.log(row(['set', 'scored', 'passed', 'failed', 'checks', 'unscored failures']));
}

export function printResult({ name, scenarios }: SuiteResult): void {
  const scored = scenarios.filter(({ isScored }) => isScored);
  const failed = scored.filter(({ failures }) => failures.length > 0);
  const unscored = scenarios.filter(({ isScored, failures }) => !isScored && failures.length > 0);
  const checks = scored.reduce((sum, { passed }) => sum + passed, 0);
  const counts = [scored.length, scored.length - failed.length, failed.length, checks].map(String);
  console.log(row([name, ...counts, unscored.map((scenario) => scenario.name).join(', ') || '-']));
  for (const { name: scenario, warnings } of scored) {
    for (const warning of warnings) console.log(`  warning: ${scenario}: ${warning}`);
  }
}

function row([name = '', ...cells]: readonly string[]): string {
  return [name.padEnd(22), ...cells.slice(0, -1).map((cell) => cell.padStart(7)), ` ${cells.at(-1) ?? ''}`].join(' ');
}
