/** The marks of a journal in a state folder: who keeps this process's, and what the others say. */
import { join } from 'node:path';
import type { Clock } from '../../contracts/clock.ts';
import type {
  ChainHead,
  HeadFinding,
  Instance,
  RecoveryRecord,
  VerifyOptions,
  VerifyReport,
} from '../../contracts/journal.ts';
import type { Durability } from '../../contracts/registry.ts';
import { currentInstance } from '../../platform/processes/process-identity.ts';
import type { EvidenceFolder } from '../../platform/state/evidence-folder.ts';
import { createLogSync } from '../../platform/state/log-sync.ts';
import { createMarkFiles, type MarkFiles } from '../../platform/state/mark-files.ts';
import type { StateFolder } from '../../platform/state/state-folder.ts';
import { undisturbed } from './archive-rows.ts';
import { type BlockLog, prepareRecords } from './block-log.ts';
import type { BlockWriter } from './block-writer.ts';
import { bootOf, contains, findingsOf, judgeMarks, withHeads } from './check-heads.ts';
import { createHeadKeeper, type HeadKeeper } from './head-keeper.ts';
import { createMarkFormat, type FoundMark, LOST_SUFFIX, readMarks } from './head-marks.ts';
import type { JournalTables } from './journal-tables.ts';

export interface Heads extends KnownHeads {
  readonly keeper: HeadKeeper;
  readonly files: MarkFiles;
}

/** What is needed to check a chain against its marks. */
export interface KnownHeads {
  /** The boot of the machine this process runs in. */
  readonly boot: string;
  marks(): readonly FoundMark[];
}

export interface HeadsOptions {
  readonly state: StateFolder;
  readonly masterKey: Uint8Array;
  readonly durability: Durability;
  readonly clock: Clock;
  readonly writer: Instance;
  readonly syncEveryMs?: number | undefined;
}

export function openHeads({ state, masterKey, durability, clock, writer, syncEveryMs }: HeadsOptions): Heads {
  const files = createMarkFiles(state.path);
  const format = createMarkFormat(masterKey);
  const log = createLogSync(join(state.path, 'journal.db'));
  return {
    keeper: createHeadKeeper({ files, log, format, writer, durability, clock, everyMs: syncEveryMs }),
    files,
    boot: bootOf(writer.birth),
    marks: () => readMarks(files, format),
  };
}

/** Those of a folder that is only read. */
export function readHeads({ path, key, open }: EvidenceFolder): KnownHeads {
  const files = createMarkFiles(path, open);
  const format = createMarkFormat(key);
  return { boot: bootOf(currentInstance().birth), marks: () => readMarks(files, format) };
}

interface HeadParts {
  readonly tables: JournalTables;
  readonly log: BlockLog;
  readonly writer: BlockWriter;
  readonly clock: Clock;
}

export interface HeadChecks {
  /** The report of `check`, with what the marks know; made again when a rotation came between. */
  verify(check: () => VerifyReport, options?: VerifyOptions): VerifyReport;
  report(): readonly HeadFinding[];
  /** Closes the tables, everything on the disk. */
  close(): void;
}

/** A journal that is not on a disk has no marks. */
export function createHeadChecks(heads: Heads | undefined, parts: HeadParts): HeadChecks {
  const { tables } = parts;
  if (heads === undefined) {
    return { verify: (check) => undisturbed(tables, check), report: () => [], close: tables.close };
  }
  return {
    verify: (check, options) => undisturbed(tables, () => verifyWithHeads(heads, parts, check, options)),
    report: () => reportHeads(heads, parts),
    close() {
      heads.keeper.settle();
      tables.close();
      heads.keeper.finish();
    },
  };
}

/** Marks are read before the chain: what they name must be in it, and others may be writing. */
export function verifyWithHeads(
  heads: KnownHeads,
  { tables, log }: Pick<HeadParts, 'tables' | 'log'>,
  check: () => VerifyReport,
  { witnessed = [] }: VerifyOptions = {},
): VerifyReport {
  const before = heads.marks();
  const report = check();
  if (!report.ok) return report;
  const unknown = witnessed.find((head) => !contains(tables, head));
  if (unknown !== undefined) return { ...report, ok: false, broken: notContained(unknown) };
  const marks = () => [...before, ...heads.marks()];
  return withHeads(report, judgeMarks(before, tables, heads.boot), { marks, rows: log.rows() });
}

function notContained({ seq }: ChainHead): NonNullable<VerifyReport['broken']> {
  return { seq, reason: `witnessed head not contained: record ${seq} was on the disk, chain was cut or replaced` };
}

function reportHeads(heads: Heads, { tables, writer, clock }: HeadParts): readonly HeadFinding[] {
  const state = judgeMarks(heads.marks(), tables, heads.boot);
  const findings = findingsOf(state);
  const fresh = findings.filter(({ mark }) => !mark.endsWith(LOST_SUFFIX));
  if (fresh.length > 0) writer.write(prepareRecords(fresh.map((finding) => recordOf(finding, clock.now()))));
  for (const { reason, mark } of fresh) if (reason === 'chain_cut') heads.files.rename(mark, `${mark}${LOST_SUFFIX}`);
  heads.keeper.supersede(state.over.map(({ name }) => name));
  return findings;
}

function recordOf({ reason, seq, mark, atMs }: HeadFinding, now: number): RecoveryRecord {
  const when = new Date(atMs).toISOString();
  const note =
    reason === 'chain_cut'
      ? `heads/${mark} saw record ${seq} on the disk at ${when}; the chain does not contain it`
      : `The machine stopped without closing the journal; records behind ${seq}, which was on the disk at ${when}, may be missing`;
  return { kind: 'recovery', at_ms: now, reason, classification: 'repair', note, after_seq: seq };
}
