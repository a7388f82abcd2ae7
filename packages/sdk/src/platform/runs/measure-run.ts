/** How many bytes a run folder holds. No link is followed, and a second name of a file counts like a first. */
import { closeSync } from 'node:fs';
import { statEntry } from '../descriptors/directory-entry.ts';
import { explained } from '../descriptors/file-errors.ts';
import { openBase, openBelow } from '../descriptors/held-folder.ts';
import { surveyEntry } from '../files/survey-tree.ts';
import type { RunPlace } from './run-folder.ts';

/** Every name in it goes with it. */
const NO_GUARD = { lookAtTree: () => ({ checkInner() {} }) };

/** 0 when it is gone. Throws E_FILE_IO for what could not be removed either, such as a mount inside. */
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
