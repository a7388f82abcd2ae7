/** Files of git-lfs must not be staged as they are: its filter, which makes pointers of them, does not run. */
import type { Registry } from '../../contracts/registry.ts';
import type { ToolContext } from '../../contracts/tool.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { isListed } from '../../git/judge-config.ts';
import { shownNames } from '../../text/shown-names.ts';
import { mayConvert } from './recovery/may-convert.ts';
import { toRaw } from './recovery/raw-path.ts';

const POINTER = Buffer.from('version https://git-lfs.github.com/spec/');

type Looking = Pick<ToolContext, 'git' | 'workspace'> & { readonly registry: Pick<Registry, 'git'> };

/** Throws E_GIT when one of the paths belongs to git-lfs and is no pointer. Deleted files are fine. */
export async function refuseLfsContents(
  paths: readonly string[],
  { git, workspace, registry }: Looking,
): Promise<void> {
  if (isListed('filter.lfs.process', registry.git.allow_config) || paths.length === 0) return;
  if (!(await mayConvert(paths.map(toRaw), { git, workspace }))) return;
  const { stdout } = await git.run({
    words: ['check-attr', '--stdin', '-z', 'filter'],
    access: 'read',
    stdin: paths.map((path) => `${path}\0`).join(''),
  });
  const fields = stdout.toString('utf8').split('\0');
  const owned = fields.filter((_, at) => at % 3 === 0 && fields[at + 2] === 'lfs');
  const contents: string[] = [];
  for (const path of owned) {
    const stat = await workspace.stat(path);
    if (stat?.type !== 'file') continue;
    const { bytes } = await workspace.readFile(path, { maxBytes: POINTER.length });
    if (!POINTER.equals(bytes.subarray(0, POINTER.length))) contents.push(path);
  }
  if (contents.length === 0) return;
  throw gitFailure(`Files belong to git-lfs, whose filter does not run here: ${shownNames(contents)}`, {
    path: 'paths',
    reason: 'lfs_content',
    next: 'stage them with git itself, or have the operator list filter.lfs.* in git.allow_config',
    details: { paths: contents.slice(0, 100) },
  });
}
