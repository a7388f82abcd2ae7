/** The report of a run for people. */
import type { ChaosReport } from './run-chaos.ts';

export function printReport(report: ChaosReport, seed: number): void {
  const { calls, sessions, deaths, outlived, faults, missing, growth, journals, unexpected } = report;
  const states = countBy(calls.map(({ state, outcome }) => outcome ?? state));
  const ways = countBy(calls.map(({ transport }) => transport));
  console.log(`calls: ${calls.length} (${listed(states)}) over ${listed(ways)}; ${sessions} sessions`);
  console.log(`${deaths} deaths of hosts; ${outlived} processes outlived theirs until the next started`);
  console.log(`tools: ${listed(countBy(calls.map(({ plan }) => plan.tool)))}`);
  console.log(`faults: ${listed(faults)}`);
  if (missing.length > 0) console.log(`faults left out: ${missing.join(', ')}`);
  for (const { kind, transport, calls: count, p50Millis, p99Millis } of report.latencies) {
    if (kind !== 'all') continue;
    console.log(
      `latency over ${transport}: ${count} calls, p50 ${p50Millis.toFixed(1)} ms, p99 ${p99Millis.toFixed(0)} ms`,
    );
  }
  for (const { name, from, to, rise } of growth) {
    console.log(`${name}, last half: ${Math.round(from)} to ${Math.round(to)}, trend ${Math.round(rise)}`);
  }
  for (const [site, counts] of Object.entries(journals)) console.log(`journal of ${site}: ${JSON.stringify(counts)}`);
  if (unexpected.size > 0) console.log('unexpected errors in the log of the host:');
  for (const [line, count] of unexpected) console.log(`  ${count} times ${line}`);
  printViolations(report, seed);
}

function printViolations({ violations, timeLine }: ChaosReport, seed: number): void {
  for (const { atMs, text, before } of violations.kept) {
    console.log(`\nviolation (seed ${seed}, ${(atMs / 1000).toFixed(1)} s): ${text}`);
    for (const line of before) console.log(`    ${line}`);
  }
  if (violations.count > 0) {
    console.log('\ntime line:');
    for (const line of timeLine.tail(400)) console.log(`  ${line}`);
  }
  console.log(violations.count === 0 ? 'no violation' : `${violations.count} violations, seed ${seed}`);
}

function countBy(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([word, count]) => `${word} ${count}`).join(', ');
}
