/** runs verify: whether runs are what the runtime wrote: folder, result, outputs, and what the journal has of them. */
import type { Runtime } from '@tool-runtime/sdk';
import type { RunLocation, VerifiedRun } from '@tool-runtime/sdk/parts';
import type { Command } from 'commander';
import { plainText } from '../../../terminal/plain-text.ts';
import { paint, printJson, printLine } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';
import { withInterrupt } from '../../interrupt.ts';
import { withRuntime } from '../../open-runtime.ts';
import { findRun } from './find-run.ts';

const VERDICTS = {
  ok: ['green', 'ok'],
  running: ['dim', 'running'],
  damaged: ['red', 'damaged'],
  unknown: ['yellow', 'unknown to the journal'],
} as const;

type Verdict = VerifiedRun['verdict'];

export function addVerify(command: Command, done: Done): void {
  withSharedOptions(
    command
      .command('verify')
      .description('Check runs against their digests and the journal (exit 1 unless all are ok)'),
  )
    .argument('[runs...]', 'ids, or tool/id; every run when none is named')
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
  const [{ verifyRuns }, { stateOf }] = await Promise.all([
    import('@tool-runtime/sdk/parts'),
    import('../../state-of.ts'),
  ]);
  const verdicts: Verdict[] = [];
  for await (const run of verifyRuns({ state: stateOf(options), runs, runtime, signal })) {
    verdicts.push(run.verdict);
    if (options.json === true) printJson(run, { compact: true });
    else printLine(describe(run));
  }
  return verdicts;
}

function describe({ verdict, run_id, tool, problems }: VerifiedRun): string {
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
