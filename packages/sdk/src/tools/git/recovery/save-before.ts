/** For tools that take files away: a recovery point where there is a repository, and a warning where none can be made. */
import { isToolError } from '@tool-runtime/protocol';
import type { ToolContext } from '../../../contracts/tool.ts';
import { literalPathspec } from '../../../git/pathspec.ts';
import { isThere } from '../git-arguments.ts';
import type { RawPath } from './raw-path.ts';
import type { SavedVerb } from './recovery-note.ts';
import { saveFiles } from './save-recovery.ts';

/** Reasons that say there is nothing to save to, which is not worth a warning. */
const NO_PLACE: ReadonlySet<unknown> = new Set(['no_repository', 'foreign_git_folder', 'not_installed']);

export async function saveBefore(
  context: ToolContext,
  verb: SavedVerb,
  path: string,
): Promise<{ readonly recovery?: string }> {
  if (!(await isThere(path, context.workspace))) return {};
  try {
    const saved = await saveFiles(context, { verb, paths: await worthSaving(context, path) });
    return saved === undefined ? {} : { recovery: saved.ref };
  } catch (thrown) {
    context.signal.throwIfAborted();
    if (!isToolError(thrown)) throw thrown;
    if (!NO_PLACE.has(thrown.details['reason'])) {
      context.warn({
        code: 'E_GIT',
        message: `No recovery point was made: ${thrown.message}`,
        details: { reason: 'not_saved', next: 'repair what the message names, to be able to go back next time' },
      });
    }
    return {};
  }
}

/** Tracked files and others that are not ignored: build output and dependencies can be made again. */
async function worthSaving({ git }: ToolContext, path: string): Promise<readonly RawPath[]> {
  const { stdout } = await git.run({
    words: [
      ...['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'],
      '--',
      literalPathspec(path),
    ],
    access: 'read',
    // Beyond a link there is nothing for git to save.
    accept: [0, 128],
  });
  const listed = stdout.toString('latin1').split('\0');
  return listed.filter((name) => name !== '' && !name.endsWith('/'));
}
