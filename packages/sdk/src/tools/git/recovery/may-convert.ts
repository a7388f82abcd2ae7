/**
 * Whether git may write other bytes into the work tree than it has in its store. Only then can a file git calls clean
 * differ from what git would write in its place, so that its bytes have to be kept too.
 */
import type { GitRepository } from '../../../contracts/git.ts';
import type { Workspace } from '../../../contracts/workspace.ts';
import { createLooker } from './look-at.ts';
import { type RawPath, toPlain } from './raw-path.ts';

export async function mayConvert(
  paths: readonly RawPath[],
  { git, workspace }: { readonly git: GitRepository; readonly workspace: Workspace },
): Promise<boolean> {
  if (paths.length === 0) return false;
  const config = await git.config();
  const settings = [config.get('core.autocrlf'), config.get('core.eol')];
  if (settings.some((value) => value !== undefined && !/^(?:false|no|off|0|lf|native|)$/i.test(value))) return true;
  if ((await git.files.read('info/attributes')) !== undefined) return true;
  const looker = createLooker(workspace);
  for (const folder of foldersOf(paths)) {
    if ((await looker.at(`${folder}.gitattributes`)) !== null) return true;
  }
  return false;
}

/** Of all paths, each once, with a slash at the end; the root is empty. */
function foldersOf(paths: readonly RawPath[]): ReadonlySet<string> {
  const folders = new Set(['']);
  for (const path of paths) {
    const plain = toPlain(path) ?? '';
    for (let slash = plain.lastIndexOf('/'); slash > 0; slash = plain.lastIndexOf('/', slash - 1)) {
      const folder = plain.slice(0, slash + 1);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}
