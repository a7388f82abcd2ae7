/** Reports of a load run for people. */
import type { Problems } from '../../packages/host/test/load/problems.ts';
import type { KillReport } from '../../packages/host/test/load/run-kills.ts';
import type { LoadReport } from '../../packages/host/test/load/run-load.ts';

export function printLoad(report: LoadReport): void {
  const { calls, callsPerSecond, events, eventsMissed, openedMillis, closedMillis, memory, journal } = report;
  console.log(`sessions opened in ${seconds(openedMillis)}, closed in ${seconds(closedMillis)}`);
  console.log(
    `${whole(calls)} calls, ${whole(callsPerSecond)} a second; ${whole(events)} events, ${eventsMissed} missed`,
  );
  printTable([
    ['', '', 'calls', 'p50 ms', 'p99 ms'],
    ...report.latencies.map((row) => [
      row.kind,
      row.transport,
      whole(row.calls),
      row.p50Millis.toFixed(2),
      row.p99Millis.toFixed(2),
    ]),
  ]);
  const { startBytes, thirdBytes, middleBytes, endBytes, highestBytes, liveThirdBytes, liveEndBytes } = memory;
  const sizes = [startBytes, thirdBytes, middleBytes, endBytes, highestBytes].map(megabytes);
  console.log(
    `process MB: start ${sizes[0]}, third ${sizes[1]}, middle ${sizes[2]}, end ${sizes[3]}, highest ${sizes[4]}`,
  );
  console.log(
    `held MB: after a third ${megabytes(liveThirdBytes)}, end ${megabytes(liveEndBytes)}, ` +
      `${(liveEndBytes / liveThirdBytes).toFixed(2)} times; process ${(endBytes / thirdBytes).toFixed(2)} times`,
  );
  console.log(`journal: ${whole(journal.records)} records verify; ${JSON.stringify(journal)}`);
}

export function printKills({ rounds, journal }: KillReport): void {
  printTable([
    ['', 'killed after', 'calls', 'lost', 'keyed, repeated', 'answered', 'outcome unknown'],
    ...rounds.map((round, index) => [
      `kill ${index + 1}`,
      seconds(round.killedAfterMillis),
      ...[round.calls, round.lost, round.repeated, round.answered, round.stillUnknown].map(whole),
    ]),
  ]);
  console.log(`journal: ${whole(journal.records)} records verify; ${JSON.stringify(journal)}`);
}

/** The exit code. */
export function printProblems({ count, first }: Problems): number {
  for (const problem of first) console.log(`violation: ${problem}`);
  console.log(count === 0 ? 'no violation' : `${count} violations`);
  return count === 0 ? 0 : 1;
}

function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  for (const row of rows) {
    console.log(
      row.map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '),
    );
  }
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function seconds(millis: number): string {
  return `${(millis / 1000).toFixed(2)} s`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
