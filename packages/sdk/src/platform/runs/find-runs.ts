/**
 * Everything below the folder of external tools that carries the name of a run: those without a pack, and those of every
 * pack.
 *
 * What only looks like a run (a link, a file) is found too, so that someone can say so. No link is followed.
 */
import { type BigIntStats, closeSync, fstatSync } from 'node:fs';
import { join } from 'node:path';
import { isToolError } from '@tool-runtime/protocol';
import { isExternalToolName, isRunId, type RunHistory } from '../../contracts/external.ts';
import { type ListedEntry, listOwnEntries, statEntry } from '../descriptors/directory-entry.ts';
import { explained } from '../descriptors/file-errors.ts';
import { type HeldFolder, openBase, openBelow } from '../descriptors/held-path.ts';
import { errnoCode } from '../errno-error.ts';
import { surveyEntry } from '../files/survey-tree.ts';
import { openOutput } from './output-path.ts';
import { openRunFolder, type RunPlace, runIdsOf } from './run-folder.ts';
import { readRunFile } from './run-result-file.ts';

export interface RunLocation extends RunPlace {
  readonly runId: string;
  /** False for what has the name of a run and is no folder. */
  readonly isFolder: boolean;
}

const PACKS = 'packs';
const SECTIONS = [
  { name: 'runs', withPack: false },
  { name: 'tools', withPack: true },
] as const;

/** Newest first. Empty when there is no such folder. */
export function findRuns(base: string): RunLocation[] {
  const packs = entriesIn(base, [PACKS])
    .flatMap(folderNamed)
    .map((pack) => join(base, PACKS, pack));
  return [base, ...packs].flatMap(runsBelow).sort(byAge);
}

function runsBelow(base: string): RunLocation[] {
  return SECTIONS.flatMap(({ name, withPack }) =>
    entriesIn(base, [name])
      .flatMap(folderNamed)
      .filter(isExternalToolName)
      .flatMap((tool) =>
        entriesIn(base, [name, tool]).flatMap(({ name: runId, type }) =>
          typeof runId === 'string' && isRunId(runId)
            ? [{ base, tool, withPack, runId, isFolder: type === 'directory' }]
            : [],
        ),
      ),
  );
}

function folderNamed({ name, type }: ListedEntry): string[] {
  return type === 'directory' && typeof name === 'string' ? [name] : [];
}

/** Nothing where a name on the way is missing, a link or no folder. */
function entriesIn(base: string, names: readonly string[]): ListedEntry[] {
  let baseFd: number | undefined;
  let fd: number | undefined;
  try {
    baseFd = openBase(base);
    fd = openBelow(baseFd, names);
    return listOwnEntries(fd);
  } catch (thrown) {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoCode(thrown) ?? '')) throw thrown;
    return [];
  } finally {
    for (const open of [baseFd, fd]) if (open !== undefined) closeSync(open);
  }
}

function byAge(a: RunLocation, b: RunLocation): number {
  const [left, right] = [`${b.runId} ${a.tool}`, `${a.runId} ${b.tool}`];
  return left < right ? -1 : Number(left > right);
}

const WRITABLE_BY_OTHERS = 0o022n;

/**
 * Whether a run folder and its result still belong to us alone. What is wrong, in words; empty when nothing is. Changes
 * nothing.
 */
export function modeProblems({ dirFd }: HeldFolder, file: string): string[] {
  const result = statEntry({ dirFd, name: file });
  return [
    ...problemsOf('run folder', fstatSync(dirFd, { bigint: true })),
    ...(result === undefined ? [] : problemsOf(file, result)),
  ];
}

function problemsOf(subject: string, { uid, mode }: BigIntStats): string[] {
  return [
    ...(Number(uid) === process.geteuid?.() ? [] : [`${subject} belongs to another user`]),
    ...((mode & WRITABLE_BY_OTHERS) === 0n ? [] : [`${subject} can be written by others`]),
  ];
}

/** Every name in it goes with it. */
const NO_GUARD = { lookAtTree: () => ({ checkInner() {} }) };

/**
 * How many bytes a run folder holds. No link is followed, and a second name of a file counts like a first. 0 when it is
 * gone. Throws E_FILE_IO for what could not be removed either, such as a mount inside.
 */
export async function measureRun({
  base,
  tool,
  withPack,
  runId,
}: RunPlace & { readonly runId: string }): Promise<number> {
  const baseFd = explained(runId, () => openBase(base));
  try {
    const dirFd = explained(runId, () => openBelow(baseFd, [withPack ? 'tools' : 'runs', tool]));
    try {
      const stat = statEntry({ dirFd, name: runId });
      if (stat === undefined) return 0;
      const rules = { guard: NO_GUARD, spelling: runId, purpose: 'remove', signal: undefined } as const;
      const { bytes } = await surveyEntry({ dirFd, name: runId, stat }, rules);
      return bytes;
    } finally {
      closeSync(dirFd);
    }
  } finally {
    closeSync(baseFd);
  }
}

const MAX_RESULT_BYTES = 10 * 1024 * 1024;

/**
 * The runs in a pack's folder. Nothing is held open: history is read once, before a run.
 *
 * `base` is the folder that holds `tools/`.
 */
export function createRunHistory(base: string): RunHistory {
  return {
    runsOf: (tool) => orNothing(() => runIdsOf({ base, tool, withPack: true }), []),
    readResult: (tool, runId) =>
      orNothing(() => {
        const run = openRunFolder({ base, tool, runId, withPack: true });
        if (run === undefined) return 'missing';
        try {
          return readRunFile(run, 'result.json', MAX_RESULT_BYTES);
        } finally {
          run.close();
        }
      }, 'unreadable'),
    hasOutput: (parts) => orNothing(() => isRegular(base, parts), false),
  };
}

function isRegular(base: string, parts: readonly string[]): boolean {
  const dirFd = openBase(base);
  try {
    closeSync(openOutput({ dirFd }, ['tools', ...parts].join('/'), Number.POSITIVE_INFINITY));
    return true;
  } finally {
    closeSync(dirFd);
  }
}

/** A name or a link that is refused, and a folder that is not there, are all the same to the question. */
function orNothing<Answer>(ask: () => Answer, nothing: Answer): Answer {
  try {
    return ask();
  } catch (thrown) {
    if (isToolError(thrown) || errnoCode(thrown) !== undefined) return nothing;
    throw thrown;
  }
}
