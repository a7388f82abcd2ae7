/**
 * npm run mutate [-- --only 'paths.*' --workers 2 --json]: removes every listed security check in turn, in a copy.
 *
 * What must hold: a named test fails each time. Ends with 1 when a removal goes unnoticed, when an entry of a list
 * is wrong, or when a named test fails before anything is removed. The lists are the guards.json beside the checks.
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import picomatch from 'picomatch';
import { trialLine, trialRecord, trialTable } from './mutation/print-trials.ts';
import { type Trials, tryGuards } from './mutation/try-guards.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '*' },
    workers: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
  },
});

process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
const start = performance.now();
const found = await tryGuards(path.join(import.meta.dirname, '..'), {
  workers: Number(values.workers),
  isChosen: picomatch(values.only),
  onProgress: (step) => {
    if (values.json) return;
    console.log('test' in step ? `with all checks: ${step.test}` : trialLine(step));
  },
});
if (values.json) console.log(JSON.stringify({ ...found, trials: found.trials.map(trialRecord) }, null, 2));
else printSummary(found);
const isProven = found.trials.length > 0 && found.trials.every(({ verdict }) => verdict.kind === 'killed');
process.exitCode = isProven ? 0 : 1;

function printSummary({ trials, problems }: Trials): void {
  for (const line of trialTable(trials)) console.log(line);
  for (const trial of trials) if (trial.verdict.kind !== 'killed') console.log(trialLine(trial));
  for (const problem of problems) console.log(problem);
  console.log(`${((performance.now() - start) / 1000).toFixed(0)} s`);
}
