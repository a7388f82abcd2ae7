/**
 * Everything below the folder of external tools that carries the name of a run: those without a pack, and those of every
 * pack.
 *
 * What only looks like a run (a link, a file) is found too, so that somebody can say so. No link is followed.
 */
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { isExternalToolName, isRunId } from '../../contracts/run-names.ts';
import { type ListedEntry, listOwnEntries } from '../descriptors/directory-entry.ts';
import { openBase, openBelow } from '../descriptors/held-folder.ts';
import { errnoCode } from '../errno-error.ts';
import type { RunPlace } from './run-folder.ts';

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
