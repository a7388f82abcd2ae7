/** tool-runtime runs: list, show, verify and prune the runs of external tools. */
import type { Runtime } from '@tool-runtime/sdk';
import type { PruneRunsReport, RunLocation, RunSummary, VerifiedRun } from '@tool-runtime/sdk/parts';
import type { Command } from 'commander';
import { paint, plainText, printJson, printLine, showError, showWarning } from '../../terminal/terminal.ts';
import { type Done, defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';
import { withInterrupt } from '../interrupt.ts';
import { withRuntime } from '../open-runtime.ts';
import { wholeNumber } from '../option-values.ts';
import { createPieceWriter, describeOutputs } from '../report-run.ts';
import { daysToMs } from './audit/archive.ts';

export const runs = defineCommand({
  name: 'runs',
  summary: 'List, show, verify and prune the runs of external tools',
  configure(command, done) {
    for (const add of [addList, addShow, addVerify, addPrune]) add(command, done);
  },
});

interface ListOptions extends SharedOptions {
  readonly limit: number;
  readonly failed?: boolean;
}

const STATUS_COLOURS = {
  success: 'green',
  partial: 'yellow',
  failure: 'red',
  damaged: 'red',
  unfinished: 'dim',
} as const;

/** runs list: the newest runs, newest first; damaged ones among them. */
function addList(command: Command, done: Done): void {
  withSharedOptions(command.command('list').description('The newest runs, newest first'))
    .argument('[tool]', 'only runs of this tool')
    .option('-n, --limit <count>', 'how many', wholeNumber('--limit', 1), 50)
    .option('--failed', 'only runs that did not succeed, including damaged ones')
    .action(async (tool: string | undefined, options: ListOptions) => {
      const [{ listRuns }, { stateOf }] = await loadParts();
      let count = 0;
      for (const run of listRuns(stateOf(options), { tool, failed: options.failed === true })) {
        if (count === options.limit) break;
        count += 1;
        if (options.json === true) printJson(run, { compact: true });
        else printLine(describeRun(run));
      }
      if (count === 0 && options.json !== true) printLine('no runs');
      done(0);
    });
}

function describeRun(run: RunSummary): string {
  const { run_id, tool, status, exit_code, tool_exit_code, duration_ms, outputs = [], problem } = run;
  const place = `${run_id}  ${plainText(tool)}  ${paint(STATUS_COLOURS[status], status)}`;
  if (exit_code === undefined) return problem === undefined ? place : `${place}  ${plainText(problem)}`;
  const ended = tool_exit_code === null ? `exit ${exit_code} (did not run)` : `exit ${exit_code}`;
  return [place, ended, `${duration_ms} ms`, describeOutputs(outputs)].join('  ');
}

interface ShowOptions extends SharedOptions {
  readonly output?: string;
}

/** runs show: the result of one run, or the bytes of one of its outputs. */
function addShow(command: Command, done: Done): void {
  withSharedOptions(command.command('show').description('The result of one run, or one of its outputs'))
    .argument('<run>', 'its id, or tool/id')
    .option('--output <path>', 'the bytes of this output, if they have not changed since the run')
    .action(async (name: string, options: ShowOptions) => {
      const run = await findRun(name, options);
      done(run !== undefined && (await show(run, options)) ? 0 : 1);
    });
}

async function show(run: RunLocation, options: ShowOptions): Promise<boolean> {
  const [{ showRun, showRunOutput }, { isToolError }] = await Promise.all([
    import('@tool-runtime/sdk/parts'),
    import('@tool-runtime/protocol'),
  ]);
  try {
    if (options.output === undefined) printJson(showRun(run), { compact: options.json === true });
    else {
      const writer = createPieceWriter(process.stdout);
      await showRunOutput(run, options.output, writer.write);
      await writer.end();
    }
    return true;
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    const { next } = thrown.details;
    showError(`${thrown.code} ${thrown.message}`, typeof next === 'string' ? next : undefined);
    return false;
  }
}

const VERDICTS = {
  ok: ['green', 'ok'],
  running: ['dim', 'running'],
  damaged: ['red', 'damaged'],
  unknown: ['yellow', 'unknown to the journal'],
} as const;

type Verdict = VerifiedRun['verdict'];

/** runs verify: whether runs are what the runtime wrote: folder, result, outputs, and what the journal has of them. */
function addVerify(command: Command, done: Done): void {
  withSharedOptions(
    command
      .command('verify')
      .description('Check runs against their digests and the journal (exit 1 unless all are ok)'),
  )
    .argument('[runs...]', 'ids, or tool/id (default: every run)')
    .action(async (names: string[], options: SharedOptions) => {
      const found = await Promise.all(names.map((name) => findRun(name, options)));
      const runs = found.filter((run) => run !== undefined);
      const chosen = names.length === 0 ? undefined : runs;
      const verdicts = await withInterrupt((signal) =>
        withRuntime(options, (runtime) => verify({ runs: chosen, options, runtime, signal })),
      );
      if (options.json !== true) printLine(summarize(verdicts));
      const isProven = verdicts.every((verdict) => verdict === 'ok' || verdict === 'running');
      done(isProven && runs.length === names.length ? 0 : 1);
    });
}

interface VerifyOrder {
  readonly runs: readonly RunLocation[] | undefined;
  readonly options: SharedOptions;
  readonly runtime: Runtime;
  readonly signal: AbortSignal;
}

async function verify({ runs, options, runtime, signal }: VerifyOrder): Promise<readonly Verdict[]> {
  const [{ verifyRuns }, { stateOf }] = await loadParts();
  const verdicts: Verdict[] = [];
  for await (const run of verifyRuns({ state: stateOf(options), runs, runtime, signal })) {
    verdicts.push(run.verdict);
    if (options.json === true) printJson(run, { compact: true });
    else printLine(describeVerified(run));
  }
  return verdicts;
}

function describeVerified({ verdict, run_id, tool, problems }: VerifiedRun): string {
  const [colour, word] = VERDICTS[verdict];
  const why = problems.length === 0 ? '' : `: ${plainText(problems.join('; '))}`;
  return `${run_id}  ${plainText(tool)}  ${paint(colour, word)}${why}`;
}

function summarize(verdicts: readonly Verdict[]): string {
  if (verdicts.length === 0) return 'no runs';
  const counts = Object.entries(VERDICTS).map(([verdict, [, word]]) => {
    const count = verdicts.filter((found) => found === verdict).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  return counts.flat().join(', ');
}

interface PruneOptions extends SharedOptions {
  readonly olderThan: number;
  readonly keep?: number;
  readonly failedOnly?: boolean;
  readonly dryRun?: boolean;
}

/** runs prune: removes old runs. One that may still be going on stays. */
function addPrune(command: Command, done: Done): void {
  withSharedOptions(command.command('prune').description('Remove old runs; their journal records stay'))
    .requiredOption('--older-than <days>', 'only runs older than that', wholeNumber('--older-than', 0))
    .option('--keep <count>', 'keep this many of the newest runs of each tool', wholeNumber('--keep', 0))
    .option('--failed-only', 'only runs that failed or were cut off')
    .option('--dry-run', 'remove nothing, list what would be removed')
    .action(async (options: PruneOptions) => {
      const report = await prune(options);
      if (options.json === true) printJson({ dry_run: options.dryRun === true, ...report }, { compact: true });
      else printReport(report, options);
      done(report.skipped.length === 0 ? 0 : 1);
    });
}

async function prune(options: PruneOptions): Promise<PruneRunsReport> {
  const [{ pruneRuns }, { stateOf }] = await loadParts();
  const { olderThan, keep, failedOnly, dryRun } = options;
  return withRuntime(options, ({ registry }) =>
    pruneRuns({ state: stateOf(options), registry, olderThanMs: daysToMs(olderThan), keep, failedOnly, dryRun }),
  );
}

function printReport({ removed, bytes, running, skipped }: PruneRunsReport, { dryRun }: PruneOptions): void {
  if (dryRun === true) for (const run of removed) printLine(plainText(run));
  const verb = dryRun === true ? 'would be removed' : 'removed';
  const rest = running === 0 ? '' : `; ${running} may still be running`;
  printLine(`${removed.length} ${removed.length === 1 ? 'run' : 'runs'} ${verb}, ${bytes} bytes${rest}`);
  for (const { run_dir, reason } of skipped) showWarning(`${run_dir} was kept: ${reason}`);
}

/** Undefined, and said why, when there is none or more than one. */
async function findRun(name: string, options: SharedOptions): Promise<RunLocation | undefined> {
  const [{ findRunLocations }, { stateOf }] = await loadParts();
  const found = findRunLocations(stateOf(options), name);
  if (found.length === 1) return found[0];
  if (found.length === 0) showError(`No such run: ${name}`, 'run: tool-runtime runs list');
  else showError(`More than one run has this id: ${name}`, `name the tool too: ${found[0]?.tool}/${name}`);
  return undefined;
}

/** Loaded on demand, so that `--help` does not wait for it. */
function loadParts() {
  return Promise.all([import('@tool-runtime/sdk/parts'), import('../state-of.ts')]);
}
