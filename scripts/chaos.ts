/**
 * npm run chaos -- [--minutes 2] [--seed n] [--only kill-host,full-state] | --self-test: a host with everything going
 * wrong.
 *
 * What must hold: nothing acknowledged is lost, nothing happens twice, nothing leaves the sandbox, nothing stays
 * locked, the journal verifies after every death, every request has one answer, and neither memory nor processes are
 * left behind. Ends with 1 when anything does not, and says when, after what, and with which seed it was.
 */
import { parseArgs } from 'node:util';
import { faultNames } from './chaos/faults/make-trouble.ts';
import { printReport } from './chaos/print-report.ts';
import { runChaos } from './chaos/run-chaos.ts';
import { caseNames, testOracles } from './chaos/self-test.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    only: { type: 'string' },
    'self-test': { type: 'boolean', default: false },
  },
});

process.exitCode = values['self-test'] ? await selfTest() : await run();

async function selfTest(): Promise<number> {
  const failures = await testOracles();
  for (const failure of failures) console.log(failure);
  console.log(`${caseNames().length} oracles were shown a right and a broken world; ${failures.length} failed`);
  return failures.length === 0 ? 0 : 1;
}

async function run(): Promise<number> {
  const only = values.only?.split(',');
  const unknown = only?.filter((name) => !faultNames().includes(name)) ?? [];
  if (unknown.length > 0) {
    console.error(`no such fault: ${unknown.join(', ')}; there are ${faultNames().join(', ')}`);
    return 2;
  }
  const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
  console.log(`chaos: ${minutes} minutes, seed ${seed}`);
  const announce = (text: string): void => console.log(`violation: ${text.slice(0, 300)}`);
  const report = await runChaos({ minutes, seed, announce, ...(only === undefined ? {} : { only }) });
  printReport(report, seed);
  return report.violations.count === 0 ? 0 : 1;
}
