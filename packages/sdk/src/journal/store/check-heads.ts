/**
 * What the marks of writers say about the chain.
 *
 * A head that was on the disk is part of the chain forever: where it is not, the journal was cut, rolled back or
 * replaced. A writer of an earlier run of the machine that never closed may have lost what came after its mark.
 */
import type { ChainHead, HeadFinding, LostTail, VerifyReport } from '../../contracts/journal.ts';
import { isAlive } from '../../platform/processes/process-identity.ts';
import { recordsOf } from './block-body.ts';
import { isSame } from './block-chain.ts';
import { type FoundMark, type HeadMark, LOST_SUFFIX } from './head-marks.ts';
import type { BlockRow, JournalTables } from './journal-tables.ts';

const STOPPED = 'machine_stopped';
const CUT = 'chain_cut';

export interface HeadState {
  /** Not part of the chain, or not to be believed. */
  readonly foreign: readonly FoundMark[];
  readonly stopped: readonly HeadMark[];
  /** Of processes that ended; a new mark stands for them. */
  readonly over: readonly FoundMark[];
}

/** `boot`: that of this machine now. */
export function judgeMarks(marks: readonly FoundMark[], tables: JournalTables, boot: string): HeadState {
  const foreign = marks.filter(
    ({ name, mark }) => name.endsWith(LOST_SUFFIX) || mark === undefined || !contains(tables, mark.head),
  );
  const over = marks.filter(
    (found) => !foreign.includes(found) && found.mark !== undefined && isOver(found.mark, boot),
  );
  const stopped = over.flatMap(({ mark }) => (mark !== undefined && mayHaveLost(mark, boot) ? mark : []));
  return { foreign, stopped, over };
}

function isOver({ clean, writer }: HeadMark, boot: string): boolean {
  return clean || bootOf(writer.birth) !== boot || !isAlive(writer);
}

/** A killed process loses nothing: the kernel has what it wrote. */
function mayHaveLost({ clean, writer, durability }: HeadMark, boot: string): boolean {
  return !clean && durability === 'normal' && bootOf(writer.birth) !== boot;
}

/** `linux:<boot>:…`; systems that tell no boot have one forever. */
export function bootOf(birth: string): string {
  const [system, boot = ''] = birth.split(':');
  return system === 'linux' ? boot : '';
}

/** One that was archived counts: its archive is checked by `verify`, and a deleted one is on record. */
export function contains(tables: JournalTables, head: ChainHead): boolean {
  if (head.seq === 0) return true;
  const archive = tables.archives().find(({ through }) => head.seq <= through);
  if (archive !== undefined)
    return head.seq < archive.through || isSame(head, { seq: archive.through, mac: archive.mac });
  const block = tables.blockAt(head.seq);
  return block !== undefined && isSame(head, { seq: block.first_seq + block.count - 1, mac: block.mac });
}

export function findingsOf({ foreign, stopped }: HeadState): readonly HeadFinding[] {
  return [
    ...foreign.map(
      ({ name, mark }) => ({ reason: CUT, seq: mark?.head.seq ?? 0, atMs: mark?.at_ms ?? 0, mark: name }) as const,
    ),
    ...stopped.map(
      ({ head, at_ms, writer }) => ({ reason: STOPPED, seq: head.seq, atMs: at_ms, mark: writer.id }) as const,
    ),
  ];
}

/**
 * Adds to a report on the chain what the marks know. `marks` is asked again once the rows are read: a process may have
 * begun to write meanwhile.
 */
export function withHeads(
  report: VerifyReport,
  state: HeadState,
  { marks, rows }: { marks(): readonly FoundMark[]; readonly rows: Iterable<BlockRow> },
): VerifyReport {
  if (!report.ok) return report;
  const { losses, marked } = readChain(rows);
  const [first] = state.foreign;
  const broken =
    first !== undefined
      ? foreignHead(first)
      : marked === undefined || isKept(marked, marks())
        ? undefined
        : noMark(marked);
  const lost = [...losses, ...state.stopped.map(({ head, at_ms }) => ({ after: head.seq, at_ms }))];
  return {
    ...report,
    ok: broken === undefined,
    ...(broken === undefined ? {} : { broken }),
    ...(lost.length === 0 ? {} : { losses: lost }),
  };
}

interface Marked {
  readonly name: string;
  readonly seq: number;
}

/** What earlier starts found, and the newest record that names a mark. */
function readChain(rows: Iterable<BlockRow>): { losses: LostTail[]; marked: Marked | undefined } {
  const losses: LostTail[] = [];
  let marked: Marked | undefined;
  for (const row of rows) {
    // Nearly no block has either; looking for the words costs far less than reading every record.
    if (!row.body.includes(`"${STOPPED}"`) && !row.body.includes('"marked_by"')) continue;
    let seq = row.first_seq;
    for (const record of recordsOf(row)) {
      if (record.kind === 'recovery' && record.reason === STOPPED && record.after_seq !== undefined) {
        losses.push({ after: record.after_seq, at_ms: record.at_ms, seq });
      }
      if (record.kind === 'checkpoint' && record.marked_by !== undefined) marked = { name: record.marked_by, seq };
      seq += 1;
    }
  }
  return { losses, marked };
}

/** By its own mark, or by that of a later process that took it over. */
function isKept({ name, seq }: Marked, marks: readonly FoundMark[]): boolean {
  return marks.some((found) => found.mark !== undefined && (found.name === name || found.mark.head.seq >= seq));
}

function foreignHead({ name, mark }: FoundMark): VerifyReport['broken'] {
  if (mark === undefined) return { seq: 1, reason: `mark damaged: heads/${name} was not written with this key` };
  const { seq } = mark.head;
  return { seq, reason: `head not contained: heads/${name} saw record ${seq} on the disk, chain was cut or replaced` };
}

function noMark({ name, seq }: Marked): VerifyReport['broken'] {
  return { seq, reason: `mark missing: heads/${name} was written beside this record and is gone` };
}
