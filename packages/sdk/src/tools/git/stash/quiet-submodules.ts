/**
 * Keeps git out of submodules where a verb has no option for it. A submodule is a repository with a configuration that no
 * judge has seen, and `.gitmodules` can ask git to look for changes in it, with the programs its configuration names.
 */
import type { GitRepository } from '../../../contracts/git.ts';

/** For the environment of the verb. */
export async function quietSubmodules(git: GitRepository): Promise<Readonly<Record<string, string>>> {
  // Git takes the file of the work tree, and the one of the index where there is none.
  const names = await Promise.all(['--file=.gitmodules', '--blob=:.gitmodules'].map((place) => namesIn(git, place)));
  const settings = [...new Set(names.flat())].flatMap((name, at) => [
    [`GIT_CONFIG_KEY_${at}`, `submodule.${name}.ignore`],
    [`GIT_CONFIG_VALUE_${at}`, 'dirty'],
  ]);
  return { ...Object.fromEntries(settings), GIT_CONFIG_COUNT: String(settings.length / 2) };
}

async function namesIn(git: GitRepository, place: string): Promise<readonly string[]> {
  const words = ['config', '--null', '--name-only', place, '--get-regexp', '^submodule\\..*\\.'];
  const { stdout } = await git.run({ words, access: 'read', accept: [0, 1, 128] });
  const keys = stdout.toString('utf8').split('\0').filter(Boolean);
  return keys.map((key) => key.slice('submodule.'.length, key.lastIndexOf('.')));
}
