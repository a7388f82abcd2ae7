/**
 * npm run load [-- --sessions 1000 --in-flight 64 --seconds 60 --seed n --kill --kills 5]: a real host under load.
 *
 * What must hold: every request has exactly one answer, after its events; files and journal say what clients were told;
 * with `--kill` also after the host was killed in the middle of it. Ends with 1 when anything does not; times only show.
 */
import { parseArgs } from 'node:util';
import { runKills } from '../packages/host/test/load/run-kills.ts';
import { runLoad } from '../packages/host/test/load/run-load.ts';
import { printKills, printLoad, printProblems } from './load/print-report.ts';

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '1000' },
    'in-flight': { type: 'string', default: '64' },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    kill: { type: 'boolean', default: false },
    kills: { type: 'string', default: '5' },
  },
});
const crowd = { sessions: Number(values.sessions), inFlight: Number(values['in-flight']), seed: Number(values.seed) };
const [seconds, kills] = [Number(values.seconds), Number(values.kills)];

console.log(`${crowd.sessions} sessions, ${crowd.inFlight} calls in flight, seed ${crowd.seed}`);
if (values.kill) {
  const report = await runKills({ ...crowd, kills, longestSeconds: seconds / kills });
  printKills(report);
  process.exitCode = printProblems(report.problems);
} else {
  const report = await runLoad({ ...crowd, seconds });
  printLoad(report);
  process.exitCode = printProblems(report.problems);
}
