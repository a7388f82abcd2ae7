/** audit verify: whether the journal is whole. Writes nothing, and fails where there is no journal to check. */
import { existsSync } from 'node:fs';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import type { ChainHead, VerifyReport } from '@tool-runtime/sdk';
import type { Command } from 'commander';
import { badUsage } from '../../../terminal/bad-usage.ts';
import { paint, plainText, printJson, printLine } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withSharedOptions, withWitnessOption } from '../../command.ts';
import { withJournal } from '../../open-journal.ts';

const STATE_COLORS = { ok: 'green', broken: 'red', missing: 'red', pruned: 'dim' } as const;

/** What no check of the folder itself can find. */
const UNDETECTABLE =
  'Without a head kept outside of the state folder (--anchor), verify cannot detect that the newest records were cut off together with the heads kept beside them or that the whole folder was replaced by an older copy of it, and it never detects what was written with journal.key itself.';

const NEXT = 'keep the state folder as it is and look at a copy; restore it from a backup before you go on';

interface VerifyOptions extends SharedOptions {
  readonly anchor?: ChainHead;
  readonly archives?: boolean;
}

/** A folder without a journal has neither records nor a head. */
interface Finding {
  readonly ok: boolean;
  readonly broken?: { readonly seq: number; readonly reason: string; readonly where?: string };
  readonly next?: string;
  readonly report?: VerifyReport;
}

export function addVerify(command: Command, done: Done): void {
  withWitnessOption(
    withSharedOptions(
      command
        .command('verify')
        .description('Check every record, claim of a key and process entry against the keyed chain; writes nothing'),
    ),
  )
    .option('--anchor <seq:mac>', 'a head kept elsewhere that the chain must still contain', parseAnchor)
    .option('--archives', 'also check what is in every archive')
    .action(async (options: VerifyOptions) => {
      const finding = await verify(options);
      const { report, ...rest } = finding;
      if (options.json === true)
        printJson({ records: 0, ...report, ...rest, undetectable: UNDETECTABLE }, { compact: true });
      else for (const line of describe(finding)) printLine(line);
      done(finding.ok ? 0 : 1);
    });
}

async function verify({ anchor, archives = false, ...options }: VerifyOptions): Promise<Finding> {
  try {
    const witnessed = await witnessedBy(options);
    const report = await withJournal(options, (journal) => journal.verify(anchor, { archives, witnessed }));
    const { ok, broken } = report;
    return { ok, report, ...(broken === undefined ? {} : { broken, next: NEXT }) };
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return { ok: false, broken: { seq: 0, reason: thrown.message, where: 'file' }, next: nextOf(thrown) };
  }
}

async function witnessedBy(options: SharedOptions): Promise<readonly ChainHead[]> {
  if (options.witness === undefined) return [];
  if (!existsSync(options.witness)) {
    throw new ToolError('E_VALIDATION_FAIL', `There is no witness file: ${options.witness}`, {
      details: { reason: 'no_witness', next: 'check --witness; the file is created when a call with it ends' },
    });
  }
  const [{ witnessedHeads }, { stateOf }] = await Promise.all([
    import('@tool-runtime/sdk/parts'),
    import('../../state-of.ts'),
  ]);
  return witnessedHeads(options.witness, stateOf(options));
}

function nextOf({ details }: ToolError): string {
  return typeof details['next'] === 'string' ? details['next'] : NEXT;
}

function describe({ ok, broken, next, report }: Finding): readonly string[] {
  const lines = (report?.archives ?? []).map(
    ({ archive, state }) => `${paint(STATE_COLORS[state], state)} ${plainText(archive)}`,
  );
  if (ok && report !== undefined) {
    const { records, base, head } = report;
    const since = base === undefined ? '' : `, archived through ${base.seq}`;
    lines.push(`${paint('green', 'ok')} ${records} records${since}, head ${head.seq}:${head.mac}`);
  } else {
    const place = broken?.where === undefined ? ` at record ${broken?.seq}` : '';
    lines.push(`${paint('red', 'broken')}${place}: ${plainText(broken?.reason ?? '')}`);
    if (next !== undefined) lines.push(`  next: ${plainText(next)}`);
  }
  return [...lines, ...(report?.losses ?? []).map(describeLoss), paint('dim', UNDETECTABLE)];
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
