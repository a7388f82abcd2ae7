/** The committer's name as environment variables for git, with a warning when none is configured. */
import type { ToolContext } from '../../contracts/tool.ts';
import { warnOfMissingSignature } from './commit-signing.ts';

/** For verbs whose commits are not signed, which is said where it is not what was configured. */
export async function committerEnvironment(context: ToolContext): Promise<Readonly<Record<string, string>>> {
  await warnOfMissingSignature(context);
  return committerVariables(context);
}

export async function committerVariables({ git, warn }: ToolContext): Promise<Readonly<Record<string, string>>> {
  const { name, email, madeUp } = await git.identity();
  if (madeUp) {
    warn({
      code: 'E_GIT',
      message: `No committer is configured: ${name} <${email}> is used`,
      details: { reason: 'no_identity', next: 'set user.name and user.email in the repository or for the operator' },
    });
  }
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
}

/**
 * For verbs that replay commits: authors stay who they are, only the committer is ours. Where git would open an editor, its
 * own proposal is taken: by this name git knows that there is no program to start.
 */
export async function rebaseEnvironment(context: ToolContext): Promise<Readonly<Record<string, string>>> {
  const all = Object.entries(await committerEnvironment(context));
  const committer = all.filter(([name]) => name.startsWith('GIT_COMMITTER_'));
  return { ...Object.fromEntries(committer), GIT_EDITOR: ':', GIT_SEQUENCE_EDITOR: ':' };
}
