/** git_abort: gives up a merge, rebase, cherry-pick or revert and goes back to where it began. */
import { z } from 'zod';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import { findObjects } from '../../git/resolve-revisions.ts';
import { goBack, shortHash } from '../../present/rows.ts';
import { GIT_LOCKS, WRITE_GIT } from './git-annotations.ts';
import { gitRefused, operationUnderWay, readHead, readOperationState, type StateFile } from './operation-state.ts';
import { namingRecovery } from './recovery/recovery-note.ts';
import { saveRecovery } from './recovery/save-recovery.ts';
import { reportPaths, touchedFiles } from './report-changes.ts';

const data = z.strictObject({
  aborted: z.boolean(),
  operation: z.enum(['merge', 'rebase', 'cherry-pick', 'revert']),
  head: z.string().nullable(),
  branch: z.string().nullable(),
  recovery: z.string().describe('For git_recover: the state before, with what was resolved already'),
});

export const gitAbort = defineTool({
  name: 'git_abort',
  category: 'git',
  title: 'Abort',
  summary: 'Give up a merge, rebase, cherry-pick or revert',
  policyNotes: 'What was resolved already is saved first and can be had back with git_recover',
  args: z.strictObject({}),
  data,
  annotations: WRITE_GIT,
  effect: 'write',
  risk: 'medium',
  rehearse: 'none',
  timeoutMs: 30_000,
  locks: GIT_LOCKS,
  git: () => ({ verb: 'abort' }),
  present: presentAborted,
  run: abort,
});

async function abort(_: object, context: ToolContext): Promise<z.output<typeof data>> {
  const { git } = context;
  const state = await readOperationState(git);
  const operation = operationUnderWay(state);
  const target = await whereItBegan(state, context);
  const saved = await saveRecovery(context, { verb: 'abort', target, mayTouch: (_path, isTracked) => isTracked });
  return namingRecovery(saved, async () => {
    const output = await git.run({ words: [operation, '--abort'], access: 'write', accept: [0, 1, 128] });
    if (output.code !== 0) {
      const next = 'read the message of git in details.stderr; git_recover goes back to an earlier point';
      throw gitRefused({ what: `Git did not give up the ${operation}`, next }, output, saved);
    }
    const now = await readHead(git);
    const moved = now.head === null || now.head === saved.head ? [] : await touchedFiles(git, saved.head, now.head);
    const paths = [...saved.dirty.entries, ...moved].map(({ path }) => path);
    await reportPaths(context, new Set(paths));
    return { aborted: true, operation, ...now, recovery: saved.ref };
  });
}

/** Undefined where that is HEAD itself. */
async function whereItBegan(state: readonly StateFile[], { git }: ToolContext): Promise<string | undefined> {
  const began = /^(?:rebase-(?:merge|apply)\/orig-head|sequencer\/head)$/;
  const text =
    state
      .find(({ name }) => began.test(name))
      ?.bytes.toString('latin1')
      .trim() ?? '';
  if (!/^[0-9a-f]{40,64}$/.test(text)) return undefined;
  return (await findObjects(git, [`${text}^{commit}`]))[0];
}

function presentAborted({ operation, head, branch, recovery }: z.output<typeof data>): string {
  return `${operation} aborted, on ${branch ?? 'no branch'} at ${shortHash(head)}\n${goBack(recovery)}`;
}
