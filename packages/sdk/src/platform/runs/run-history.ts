/** The runs in a pack's folder. Nothing is held open: history is read once, before a run. */

import { closeSync } from 'node:fs';
import { isToolError } from '@tool-runtime/protocol';
import type { RunHistory } from '../../contracts/external.ts';
import { openBase } from '../descriptors/held-folder.ts';
import { errnoCode } from '../errno-error.ts';
import { openOutput } from './output-path.ts';
import { openRunFolder, runIdsOf } from './run-folder.ts';
import { readRunFile } from './run-result-file.ts';

const MAX_RESULT_BYTES = 10 * 1024 * 1024;

/** `base` is the folder that holds `tools/`. */
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
