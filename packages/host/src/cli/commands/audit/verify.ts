/** audit verify: whether the journal is whole. Writes nothing, and fails where there is no journal to check. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import type { ChainHead, VerifyReport } from '@tool-runtime/sdk';
import type { WitnessedHeads } from '@tool-runtime/sdk/parts';
import type { Command } from 'commander';
import { badUsage } from '../../../terminal/bad-usage.ts';
import { paint, plainText, printJson, printLine } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withSharedOptions, withWitnessOption } from '../../command.ts';
import { withJournal } from '../../open-journal.ts';
import { whileWorking } from '../../progress-line.ts';

const STATE_COLORS = { ok: 'green', broken: 'red', missing: 'red', pruned: 'dim' } as const;

const FORGED = 'it never detects what was written with journal.key itself.';

/** What no check of the folder itself can find. */
const UNDETECTABLE = `No witness: without a head kept outside of the state folder (witness, --anchor), verify cannot detect that the newest records were cut off together with the heads kept beside them or that the whole folder was replaced by an older copy of it, and ${FORGED}`;

/** The same when something outside has heads of this journal. */
const UNDETECTABLE_WITH_WITNESS = `verify cannot detect that records newer than the newest head kept outside of the state folder were cut off, and ${FORGED}`;

const NEXT = 'keep the state folder as it is and look at a copy; restore it from a backup before you go on';

interface VerifyOptions extends SharedOptions {
  readonly anchor?: ChainHead;
  readonly archives?: boolean;
  readonly fleet?: string;
}

/** A folder without a journal has neither records nor a head. */
interface Finding {
  readonly ok: boolean;
  readonly broken?: { readonly seq: number; readonly reason: string; readonly where?: string };
  readonly next?: string;
  readonly report?: VerifyReport;
  readonly witnesses: WitnessedHeads['places'];
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
    .option('--fleet <file>', 'instead check the records of all hosts of this fleet, and report holes')
    .action(async (options: VerifyOptions) => {
      if (options.fleet !== undefined) {
        const { verifyFleet } = await import('../fleet/records.ts');
        done(await verifyFleet(options.fleet, options.json === true));
        return;
      }
      const finding = await whileWorking('checking every record', () => verify(options));
      const { report, ...rest } = finding;
      if (options.json === true)
        printJson({ records: 0, ...report, ...rest, undetectable: undetectable(finding, options) }, { compact: true });
      else for (const line of [...describe(finding), paint('dim', undetectable(finding, options))]) printLine(line);
      done(finding.ok ? 0 : 1);
    });
}

async function verify({ anchor, archives = false, ...options }: VerifyOptions): Promise<Finding> {
  let witnesses: WitnessedHeads['places'] = [];
  try {
    const found = await witnessedBy(options);
    witnesses = found.places;
    const checks = { archives, witnessed: found.heads };
    const report = await withJournal(options, (journal) => journal.verify(anchor, checks));
    const { ok, broken } = report;
    return { ok, report, witnesses, ...(broken === undefined ? {} : { broken, next: NEXT }) };
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return { ok: false, broken: { seq: 0, reason: thrown.message, where: 'file' }, next: nextOf(thrown), witnesses };
  }
}

function undetectable({ witnesses }: Finding, { anchor }: VerifyOptions): string {
  const isKept = anchor !== undefined || witnesses.some(({ heads }) => heads > 0);
  return isKept ? UNDETECTABLE_WITH_WITNESS : UNDETECTABLE;
}

async function witnessedBy({ witness, workspace, registry, ...options }: SharedOptions): Promise<WitnessedHeads> {
  if (witness !== undefined && !existsSync(witness)) {
    throw new ToolError('E_VALIDATION_FAIL', `There is no witness file: ${witness}`, {
      details: { reason: 'no_witness', next: 'check --witness; the file is created when a call with it ends' },
    });
  }
  const [{ witnessedHeads }, { stateOf }] = await Promise.all([
    import('@tool-runtime/sdk/parts'),
    import('../../state-of.ts'),
  ]);
  return witnessedHeads({
    workspace,
    state: stateOf({ workspace, ...options }),
    ...(registry === undefined ? {} : { registry }),
    ...(witness === undefined ? {} : { file: resolve(witness) }),
  });
}

function nextOf({ details }: ToolError): string {
  return typeof details['next'] === 'string' ? details['next'] : NEXT;
}

function describe({ ok, broken, next, report, witnesses }: Finding): readonly string[] {
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
  const told = witnesses.map(({ name, heads }) => `witness ${plainText(name)}: ${heads} heads of this journal`);
  return [...lines, ...(report?.losses ?? []).map(describeLoss), ...told];
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
