/** git_restore: puts files, or what is staged of them, back to what a commit or the index has. */
import { z } from 'zod';
import type { GitRepository } from '../../contracts/git.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { parseRawDiff } from '../../git/parse-diff.ts';
import { literalPathspec } from '../../git/pathspec.ts';
import { resolveRevision } from '../../git/resolve-revisions.ts';
import { counted, goBack, shownName } from '../../present/rows.ts';
import { GIT_LOCKS, WRITE_GIT } from './git-annotations.ts';
import { type RawPath, toShown } from './recovery/raw-path.ts';
import { namingRecovery } from './recovery/recovery-note.ts';
import { saveRecovery } from './recovery/save-recovery.ts';
import { reportPaths } from './report-changes.ts';
import { restoreTogether } from './restore-together.ts';

const args = z
  .strictObject({
    paths: z.array(z.string().min(1)).min(1).max(1000).describe('Files or folders, literally; . is everything'),
    source: z.string().min(1).default('HEAD').describe('Branch, tag or commit; `index`: what is staged'),
    staged: z.boolean().default(false).describe('Restore what is staged'),
    worktree: z.boolean().default(true).describe('Restore the files themselves'),
  })
  .refine(({ staged, worktree }) => staged || worktree, 'Neither staged nor worktree: nothing to restore')
  .refine(({ staged, source }) => !staged || source !== 'index', 'What is staged cannot be its own source');
type Args = z.output<typeof args>;

const data = z.strictObject({
  restored: z.array(z.string()).describe('Files that were restored'),
  recovery: z.string().describe('For git_recover: the state before'),
});

export const gitRestore = defineTool({
  name: 'git_restore',
  category: 'git',
  title: 'Restore',
  summary: 'Throw away changes of files or unstage them',
  policyNotes: 'Everything it writes over is saved first and can be had back with git_recover',
  args,
  data,
  annotations: {
    ...WRITE_GIT,
    arg_schema: { path_params: ['paths'], set_params: ['paths'], arg_aliases: { ref: 'source' }, required: ['paths'] },
  },
  effect: 'write',
  risk: 'medium',
  rehearse: 'none',
  timeoutMs: 30_000,
  locks: GIT_LOCKS,
  git: () => ({ verb: 'restore' }),
  present: presentRestored,
  run: restore,
});

async function restore(given: Args, context: ToolContext): Promise<z.output<typeof data>> {
  const { git, workspace } = context;
  const specs = given.paths.map(literalPathspec);
  const source = given.source === 'index' ? undefined : await resolveRevision(git, given.source, 'source');
  const different = await differentFrom(git, source, { given, specs });
  for (const path of different) workspace.requireAllowed(toShown(path), 'write', 'themselves');
  const saved = await saveRecovery(context, { verb: 'restore', alsoSave: given.worktree ? different : [] });
  return namingRecovery(saved, async () => {
    const isDone = given.worktree && (await restoreTogether(context, source, different));
    if (!isDone || given.staged)
      await runRestore(git, source, { given: isDone ? { ...given, worktree: false } : given, specs });
    else await refreshIndex(git);
    if (given.worktree && !isDone) await reportPaths(context, different);
    return { restored: different.map(toShown), recovery: saved.ref };
  });
}

interface Wanted {
  readonly given: Args;
  readonly specs: readonly string[];
}

async function runRestore(git: GitRepository, source: string | undefined, { given, specs }: Wanted): Promise<void> {
  const output = await git.run({
    words: [
      ...['restore', '--quiet', '--no-recurse-submodules', '--pathspec-from-file=-', '--pathspec-file-nul'],
      ...(source === undefined ? [] : [`--source=${source}`]),
      ...(given.staged ? ['--staged'] : []),
      ...(given.worktree ? ['--worktree'] : []),
    ],
    access: 'write',
    stdin: specs.join('\0'),
    accept: [0, 1, 128],
  });
  if (output.code === 0) return;
  throw gitFailure('Git did not restore the files', {
    path: 'paths',
    reason: 'git_failed',
    next: 'name files that git tracks or that the source has; unmerged files need staged and worktree together',
    details: { exit_code: output.code, stderr: output.stderr.trim().slice(0, 2000) },
  });
}

/** So that git need not read the restored files to find them unchanged. Files that differ are no failure. */
async function refreshIndex(git: GitRepository): Promise<void> {
  await git.run({ words: ['update-index', '-q', '--refresh'], access: 'write', accept: [0, 1, 128] });
}

/** Raw paths that differ from the source, in the work tree or in the index, whichever is to be restored. */
async function differentFrom(
  git: GitRepository,
  source: string | undefined,
  { given, specs }: Wanted,
): Promise<readonly RawPath[]> {
  const words = ['-z', '--raw', '--no-abbrev', '--no-renames', '--no-ext-diff', '--ignore-submodules=dirty'];
  const compare = async (verb: readonly string[]): Promise<readonly RawPath[]> => {
    const { stdout } = await git.run({ words: [...verb, '--', ...specs], access: 'read' });
    return parseRawDiff(stdout.toString('latin1')).map(({ path }) => path);
  };
  const base = source === undefined ? [] : [source];
  const found = await Promise.all([
    given.worktree ? compare(['diff', ...words, ...base]) : [],
    given.staged ? compare(['diff', '--cached', ...words, ...base]) : [],
  ]);
  return [...new Set(found.flat())].sort();
}

function presentRestored({ restored, recovery }: z.output<typeof data>): ToolText {
  return {
    head: `restored ${counted(restored.length, 'file')}\n${goBack(recovery)}`,
    parts: [{ type: 'text', text: restored.map(shownName) }],
  };
}
