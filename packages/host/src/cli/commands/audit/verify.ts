/** audit verify: whether the chain is whole. */
import type { ChainHead, VerifyReport } from '@tool-runtime/sdk';
import type { Command } from 'commander';
import { badUsage } from '../../../terminal/bad-usage.ts';
import { plainText } from '../../../terminal/plain-text.ts';
import { paint, printJson, printLine } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';
import { withRuntime } from '../../open-runtime.ts';

const STATE_COLORS = { ok: 'green', broken: 'red', missing: 'red', pruned: 'dim' } as const;

interface VerifyOptions extends SharedOptions {
  readonly anchor?: ChainHead;
  readonly archives?: boolean;
}

export function addVerify(command: Command, done: Done): void {
  withSharedOptions(command.command('verify').description('Check every record against the keyed chain'))
    .option('--anchor <seq:mac>', 'a head kept elsewhere that the chain must still contain', parseAnchor)
    .option('--archives', 'also check what is in every archive')
    .action(async (options: VerifyOptions) => {
      const report = await withRuntime(options, (runtime) =>
        runtime.verify(options.anchor, { archives: options.archives === true }),
      );
      if (options.json === true) printJson(report, { compact: true });
      else for (const line of describe(report)) printLine(line);
      done(report.ok ? 0 : 1);
    });
}

function describe(report: VerifyReport): readonly string[] {
  const { ok, records, head, base, archives = [], broken, losses = [] } = report;
  const since = base === undefined ? '' : `, archived through ${base.seq}`;
  return [
    ...archives.map(({ archive, state }) => `${paint(STATE_COLORS[state], state)} ${plainText(archive)}`),
    ok
      ? `${paint('green', 'ok')} ${records} records${since}, head ${head.seq}:${head.mac}`
      : `${paint('red', 'broken')} at record ${broken?.seq}: ${plainText(broken?.reason ?? '')}`,
    ...losses.map(describeLoss),
  ];
}

function describeLoss({ after, at_ms }: NonNullable<VerifyReport['losses']>[number]): string {
  const when = new Date(at_ms).toISOString();
  return `${paint('yellow', 'incomplete')} behind record ${after}: the machine stopped without closing the journal (${when}), records of about a second may be missing`;
}

function parseAnchor(text: string): ChainHead {
  const match = /^(\d{1,15}):([0-9a-f]+)$/.exec(text);
  if (match?.[1] !== undefined && match[2] !== undefined) return { seq: Number(match[1]), mac: match[2] };
  throw badUsage(`Not an anchor: ${text}`, 'use the head that audit verify printed, such as 42:9f…');
}
