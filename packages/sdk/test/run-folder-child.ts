/**
 * Makes run folders as fast as it can and prints their ids, one per line.
 *
 * Arguments: base, how many, and which clock: `fine` (microseconds) or `back` (milliseconds, so that processes collide,
 * and an hour back in the middle).
 */
import { createRunIds } from '../src/external/protocol/run-ids.ts';
import { createRunFolder } from '../src/platform/runs/run-folder.ts';

const [base = '', wanted = '0', clock = 'fine'] = process.argv.slice(2);
const count = Number(wanted);
let made = 0;

const CLOCKS: Readonly<Record<string, () => number>> = {
  fine: () => performance.timeOrigin + performance.now(),
  back: () => Date.now() - (made > count / 2 ? 3_600_000 : 0),
};

const ids = createRunIds(CLOCKS[clock] ?? Date.now);
const lines: string[] = [];
for (; made < count; made++) {
  const run = createRunFolder({ base, tool: 'ask', withPack: true, ids });
  run.close();
  lines.push(run.runId);
}
process.stdout.write(lines.join('\n'));
