/** Everything that is not as HEAD has it, in one run of git, with the objects only the index keeps alive. */
import type { GitRepository } from '../../../contracts/git.ts';
import { isTemporaryPath } from '../../../contracts/path-text.ts';
import { type RawPath, toShown } from './raw-path.ts';

export interface DirtyEntry {
  readonly path: RawPath;
  readonly kind: 'tracked' | 'unmerged' | 'untracked';
  /** Contents the index holds and HEAD does not. */
  readonly staged: readonly string[];
}

export interface DirtyTree {
  /** Null before the first commit. */
  readonly head: string | null;
  /** Full name of the branch; null when detached. */
  readonly branch: string | null;
  readonly entries: readonly DirtyEntry[];
  /** Repositories below the work tree that git does not track: never entered. */
  readonly repositories: readonly RawPath[];
  /** There are files that are being written, or that a killed write left. They are not among the entries. */
  readonly hasUnfinished: boolean;
}

const BRANCH = /^ref: (refs\/heads\/.+?)\s*$/s;

export async function readDirty(git: GitRepository): Promise<DirtyTree> {
  const [{ stdout }, head] = await Promise.all([
    git.run({
      words: [
        ...['status', '--porcelain=v2', '-z', '--branch', '--no-ahead-behind', '--no-renames'],
        ...['--untracked-files=all', '--ignore-submodules=dirty'],
      ],
      access: 'read',
    }),
    git.files.read('HEAD'),
  ]);
  // The file tells a branch called "(detached)" from none; a repository that keeps references otherwise has no such file.
  const named = BRANCH.exec(head?.toString('utf8') ?? '')?.[1];
  return readDirtyOutput(stdout.toString('latin1'), named === 'refs/heads/.invalid' ? undefined : named);
}

export function readDirtyOutput(output: string, named: string | undefined): DirtyTree {
  const entries: DirtyEntry[] = [];
  const repositories: RawPath[] = [];
  let hasUnfinished = false;
  let head: string | null = null;
  let branch = named ?? null;
  for (const record of output.split('\0')) {
    const [, oid] = /^# branch\.oid ([0-9a-f]+)$/.exec(record) ?? [];
    const [, short] = /^# branch\.head (.+)$/s.exec(record) ?? [];
    if (oid !== undefined) head = oid;
    else if (short !== undefined && short !== '(detached)') branch ??= `refs/heads/${toShown(short)}`;
    else if (record.startsWith('? ')) {
      const path = record.slice(2);
      if (path.endsWith('/')) repositories.push(path);
      // What a crash of our own left behind is swept, not saved.
      else if (isTemporaryPath(path)) hasUnfinished = true;
      else entries.push({ path, kind: 'untracked', staged: [] });
    } else if (record.startsWith('1 ')) entries.push(...tracked(record));
    else if (record.startsWith('u ')) entries.push(...unmerged(record));
  }
  return { head, branch, entries, repositories, hasUnfinished };
}

/** `1 XY sub mH mI mW hH hI path` */
function tracked(record: string): readonly DirtyEntry[] {
  const { fields, path } = split(record, 8);
  const [, codes = '', submodule = '', , mode = '', , , hash = ''] = fields;
  if (submodule.startsWith('S')) return [];
  const isStaged = codes.charAt(0) !== '.' && isContent(mode, hash);
  return [{ path, kind: 'tracked', staged: isStaged ? [hash] : [] }];
}

/** `u XY sub m1 m2 m3 mW h1 h2 h3 path` */
function unmerged(record: string): readonly DirtyEntry[] {
  const { fields, path } = split(record, 10);
  const [, , submodule = '', ...rest] = fields;
  if (submodule.startsWith('S')) return [];
  const staged = [0, 1, 2].flatMap((stage) => {
    const [mode = '', hash = ''] = [rest[stage], rest[stage + 4]];
    return isContent(mode, hash) ? [hash] : [];
  });
  return [{ path, kind: 'unmerged', staged }];
}

function split(record: string, count: number): { readonly fields: readonly string[]; readonly path: RawPath } {
  let from = 0;
  for (let field = 0; field < count; field++) from = record.indexOf(' ', from) + 1;
  return { fields: record.slice(0, from - 1).split(' '), path: record.slice(from) };
}

function isContent(mode: string, hash: string): boolean {
  return mode !== '000000' && mode !== '160000' && !/^0*$/.test(hash);
}
