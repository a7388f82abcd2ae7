/**
 * For verbs that replay commits: authors stay who they are, only the committer is ours. Where git would open an editor, its
 * own proposal is taken: by this name git knows that there is no program to start.
 */
import type { ToolContext } from '../../../contracts/tool.ts';
import { committerEnvironment } from './committer.ts';

export async function rebaseEnvironment(context: ToolContext): Promise<Readonly<Record<string, string>>> {
  const all = Object.entries(await committerEnvironment(context));
  const committer = all.filter(([name]) => name.startsWith('GIT_COMMITTER_'));
  return { ...Object.fromEntries(committer), GIT_EDITOR: ':', GIT_SEQUENCE_EDITOR: ':' };
}
