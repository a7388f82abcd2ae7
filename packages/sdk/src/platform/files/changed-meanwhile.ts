/** The refusal of a change whose precondition does not hold: it names both contents by digest. */
import { ToolError } from '@tool-runtime/protocol';
import { shownPath } from '../descriptors/path-rules.ts';

/** Null stands for "no such file". */
export interface Expectation {
  readonly expected: string | null;
  readonly actual: string | null;
}

export function changedMeanwhile(path: string, { expected, actual }: Expectation): ToolError {
  const shown = shownPath(path);
  return new ToolError('E_FILE_IO', `File is not what was expected: ${shown}`, {
    path: shown,
    details: {
      reason: 'precondition_failed',
      expected_sha256: expected,
      actual_sha256: actual,
      next: 'Read the file again and repeat the change on its current content',
    },
  });
}
