/**
 * npm run fuzz [-- target…] [--seconds N] [--seed N] [--replay FILE]: random inputs against what reads other people's text.
 *
 * Runs each target (all of them unless some are named) for a minute by default, prints what it found, and
 * leaves every finding in scripts/fuzz/crashes/, from where --replay runs it again. A finding that is fixed goes into
 * scripts/fuzz/seeds/ and stays.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { printReport } from './fuzz/print-report.ts';
import { runTarget } from './fuzz/run-target.ts';
import { FUZZ_TARGETS } from './fuzz/targets/catalog.ts';

const LIMIT_MS = 10_000;
const FOLDER = join(import.meta.dirname, 'fuzz');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string' }, seed: { type: 'string' }, replay: { type: 'string' } },
});
const unknown = positionals.filter((name) => !Object.hasOwn(FUZZ_TARGETS, name));
if (unknown.length > 0 || (values.replay !== undefined && positionals.length !== 1)) {
  console.error(`fuzz: name targets of ${Object.keys(FUZZ_TARGETS).join(', ')}; one of them with --replay`);
  process.exit(2);
}
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const names = positionals.length > 0 ? positionals : Object.keys(FUZZ_TARGETS);
for (const target of names) {
  const report = await runTarget({
    catalog: new URL('fuzz/targets/catalog.ts', import.meta.url).href,
    target,
    seedFolder: join(FOLDER, 'seeds', target),
    crashFolder: join(FOLDER, 'crashes'),
    seed,
    seconds: Number(values.seconds ?? 60),
    cases: Number.POSITIVE_INFINITY,
    judgesTime: true,
    limitMs: LIMIT_MS,
    ...(values.replay === undefined ? {} : { only: readFileSync(values.replay) }),
  });
  printReport(target, seed, report);
  if (report.findings.length > 0) process.exitCode = 1;
}
