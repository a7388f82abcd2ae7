/** The glob a caller gave, as queries take it. It may not even try to look outside the workspace. */
import { ToolError } from '@tool-runtime/protocol';
import { cutText, type GlobPath, isLiteralGlob, parseGlob } from '../../glob/glob-syntax.ts';
import { SANDBOX_RULE } from '../../platform/descriptors/path-rules.ts';

export const MAX_GLOB_CHARACTERS = 1024;

const ABSOLUTE = /^(?:\\|[A-Za-z]:)/;

/** A plain name may be a file or a folder: the file, and everything in the folder. Throws like `globArgument`. */
export function globsArgument(glob: string): readonly string[] {
  const checked = globArgument(glob);
  return isLiteralGlob(checked) ? [checked, `${checked}/**`] : [checked];
}

/** `.` is everything, and a folder with its slash is everything in it. Throws E_POLICY, and E_VALIDATION_FAIL for no glob. */
export function globArgument(glob: string): string {
  if (ABSOLUTE.test(glob) || parseGlob(glob).some(leavesRoot)) {
    throw new ToolError('E_POLICY', `Glob leaves the workspace: ${cutText(glob)}`, {
      path: 'glob',
      details: { rule: SANDBOX_RULE, next: 'give a glob relative to the workspace root, without ..' },
    });
  }
  if (glob === '.') return '**';
  return glob.endsWith('/') ? `${glob}**` : glob;
}

function leavesRoot(path: GlobPath): boolean {
  const [first] = path;
  const isAbsolute = first?.type === 'literal' && first.text === '';
  return isAbsolute || path.some((segment) => segment.type === 'literal' && segment.text === '..');
}
