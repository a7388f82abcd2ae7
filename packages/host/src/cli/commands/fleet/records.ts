/** fleet audit and fleet sink: the records of all hosts. */
import type { FleetCheck } from '@tool-runtime/fleet/operate';
import type { Command } from 'commander';
import { badUsage } from '../../../terminal/bad-usage.ts';
import { paint, plainText, printJson, printLine, showWarning } from '../../../terminal/terminal.ts';
import type { Done } from '../../command.ts';
import { withInterrupt } from '../../interrupt.ts';
import { type FleetVerbOptions, loadOperate, withFleetOptions } from './load.ts';

export function addAudit(command: Command, done: Done): void {
  withFleetOptions(
    command
      .command('audit')
      .description('Verify the records of all hosts as audit verify --fleet does; fails when there is a hole'),
  ).action(async ({ fleet, json }: FleetVerbOptions) => done(await verifyFleet(fleet, json === true)));
}

/** The exit code. */
export async function verifyFleet(file: string, isJson: boolean): Promise<number> {
  const { readFleetFile, withWire, verifyRecords } = await loadOperate();
  const check = await withWire(readFleetFile(file), verifyRecords);
  if (isJson) printJson(check, { compact: true });
  else for (const line of describe(check)) printLine(line);
  return check.ok ? 0 : 1;
}

function describe({ ok, messages, deleted, journals }: FleetCheck): readonly string[] {
  return [
    ...journals.flatMap(({ host, workspace, journal, records, first, last, holes, broken }) => [
      `${broken === undefined && holes.length === 0 ? paint('green', 'ok') : paint('red', 'broken')} ${plainText(host)} ${plainText(workspace)} ${plainText(journal.slice(0, 12))}: ${records} records, ${first} to ${last}`,
      ...holes.map(({ after, before }) => `  hole: records ${after + 1} to ${before - 1} are missing`),
      ...(broken === undefined ? [] : [`  message ${broken.seq}: ${plainText(broken.reason)}`]),
    ]),
    ...(deleted === 0 ? [] : [`${paint('red', 'broken')} ${deleted} messages were deleted from the stream`]),
    `${ok ? paint('green', 'ok') : paint('red', 'broken')} ${journals.length} journals in ${messages} messages`,
  ];
}

interface SinkVerbOptions extends FleetVerbOptions {
  readonly url?: string;
  readonly once?: boolean;
  readonly rebuild?: boolean;
}

export function addSink(command: Command, done: Done): void {
  withFleetOptions(
    command
      .command('sink')
      .argument('<kind>', 'postgres')
      .description('Write the records of all hosts to PostgreSQL, until it is stopped'),
  )
    .addOption(
      command.createOption('--url <url>', 'postgres://USER:PASSWORD@HOST/DATABASE').env('TOOL_RUNTIME_SINK_URL'),
    )
    .option('--once', 'end when everything that is there now has been written')
    .option('--rebuild', 'drop the table first and fill it again from the stream')
    .action(async (kind: string, options: SinkVerbOptions) => {
      if (kind !== 'postgres') throw badUsage(`No such sink: ${kind}`, 'use postgres');
      const { url } = options;
      if (url === undefined) throw badUsage('--url is missing', 'give it, or set TOOL_RUNTIME_SINK_URL');
      const { readFleetFile, withWire, runPostgresSink } = await loadOperate();
      const rows = await withInterrupt((signal) =>
        withWire(readFleetFile(options.fleet), (wire) =>
          runPostgresSink({
            wire,
            url,
            once: options.once === true,
            rebuild: options.rebuild === true,
            signal,
            onWritten() {},
            onProblem: (error) => showWarning(error.message),
          }),
        ),
      );
      if (options.json === true) printJson({ rows }, { compact: true });
      else printLine(`${rows} rows written`);
      done(0);
    });
}
