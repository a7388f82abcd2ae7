/**
 * npm run conformance: the official MCP suite against our server and our gateway, offline.
 *
 * Registry, policy and journal are on the way of every call, on both sides. Ends with 1 when anything the suite scores
 * does not hold, or the journal does not tell what happened; what it runs for information only is named.
 */
import { CLIENT_SETS } from '../packages/host/test/mcp/conformance/client-sets.ts';
import { problemsOf, runSuite } from '../packages/host/test/mcp/conformance/run-suite.ts';
import { journalProblems, runServerSets } from '../packages/host/test/mcp/conformance/server-sets.ts';
import { printHeading, printResult } from './conformance/print-result.ts';

printHeading();
const { results, journal } = await runServerSets(printResult);
console.log(`journal: ${journal.ran} calls ran, ${journal.recorded} recorded, verifies: ${journal.verified}`);
const problems = [...results.flatMap(problemsOf), ...journalProblems(journal)];
for (const set of CLIENT_SETS) {
  const result = await runSuite(set);
  printResult(result);
  problems.push(...problemsOf(result));
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
