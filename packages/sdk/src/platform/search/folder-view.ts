/**
 * One folder of a tree as listings and searches see it: its wanted entries, without what is hidden, ignored or foreign.
 *
 * `.git` is never shown. Hidden names begin with a dot. "Ignored" is what the ignore files say, and folders that only
 * hold other people's packages.
 */
import { closeSync, constants, fstatSync, readSync } from 'node:fs';
import type { DirectoryReader } from '../descriptors/directory-reader.ts';
import type { RelativePath } from '../descriptors/path-rules.ts';
import type { Root } from '../descriptors/root.ts';
import { errnoCode } from '../errno-error.ts';
import { byteString, type EntryKind, type FolderIgnore, ignoreSubject, parseGitIgnore } from './git-ignore.ts';

/** Package managers fill these, and they often lie unmentioned by any ignore file. `vendor` and `target` are also
 * names of people's own folders, so only ignore files decide about them. */
export const VENDOR_FOLDERS: readonly string[] = [
  'node_modules',
  'bower_components',
  'jspm_packages',
  '__pycache__',
  'venv',
  '.venv',
  '.tox',
];

interface ViewOptions {
  readonly includeHidden: boolean;
  readonly includeIgnored: boolean;
}

export interface TreeSource {
  readonly root: Root;
  readonly readDirectory: DirectoryReader;
}

/** Patterns cost time for every name, so no file may hold arbitrarily many; what lies beyond is not read. */
const MAX_IGNORE_BYTES = 256 * 1024;
const OPEN_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Our own trouble; anything else is the folder's, and the folder is left out. */
const FATAL = new Set(['EBADF', 'EMFILE', 'ENFILE', 'ENOMEM']);
const vendorFolders = new Set(VENDOR_FOLDERS);
const DOT = 0x2e;

export class FolderView {
  /** Workspace-relative with a trailing slash; empty for the root. */
  readonly path: string;
  /** As the directory reader gives them. */
  readonly entries: readonly string[];
  readonly #source: TreeSource;
  readonly #options: ViewOptions;
  readonly #ignores: IgnoreStack | undefined;

  private constructor(path: string, entries: readonly string[], parts: ViewParts) {
    this.path = path;
    this.entries = entries;
    this.#source = parts.source;
    this.#options = parts.options;
    this.#ignores = parts.ignores;
  }

  /** Throws what opening the root throws. */
  static async root(source: TreeSource, options: ViewOptions): Promise<FolderView> {
    const entries = await readFolder(source, '');
    const ignores = options.includeIgnored
      ? undefined
      : new IgnoreStack().enter('', findIgnoreFiles(source.root, '', entries));
    return new FolderView('', entries, { source, options, ignores });
  }

  /** Roughly what a question about one name costs. */
  get weight(): number {
    return this.#ignores?.weight ?? 0;
  }

  /** Whether an entry takes no part, whatever the ignore files say. Cheap. */
  hides(entry: string): boolean {
    return entry.charCodeAt(0) === DOT && (!this.#options.includeHidden || entry === '.git' || entry === '.git/');
  }

  ignores(name: string, kind: EntryKind): boolean {
    if (this.#ignores === undefined) return false;
    return (kind === 'directory' && vendorFolders.has(name)) || this.#ignores.ignores(name, kind);
  }

  /** Undefined when the folder is gone, may not be read, or has become something else. */
  async enter(name: string): Promise<FolderView | undefined> {
    const path = `${this.path}${name}/`;
    try {
      const source = this.#source;
      const entries = await readFolder(source, path);
      const ignores = this.#ignores?.enter(name, findIgnoreFiles(source.root, path, entries));
      return new FolderView(path, entries, { source, options: this.#options, ignores });
    } catch (thrown) {
      const code = errnoCode(thrown);
      if (code === undefined || FATAL.has(code)) throw thrown;
      return undefined;
    }
  }
}

interface ViewParts {
  readonly source: TreeSource;
  readonly options: ViewOptions;
  readonly ignores: IgnoreStack | undefined;
}

async function readFolder({ root, readDirectory }: TreeSource, path: string): Promise<readonly string[]> {
  // Without its slash: behind one, the kernel would follow a link.
  const fd = root.openBeneath((path === '' ? '.' : path.slice(0, -1)) as RelativePath, OPEN_FOLDER);
  try {
    return await readDirectory(fd);
  } finally {
    closeSync(fd);
  }
}

function findIgnoreFiles(root: Root, path: string, entries: readonly string[]): FolderIgnoreFiles {
  let hasGitIgnore = false;
  let isRepository = false;
  for (const entry of entries) {
    if (entry.charCodeAt(0) !== DOT) continue;
    if (entry === '.gitignore') hasGitIgnore = true;
    else if (entry === '.git/' || entry === '.git') isRepository = true;
  }
  return {
    isRepository,
    gitIgnore: hasGitIgnore ? readIgnoreFile(root, `${path}.gitignore`) : undefined,
    exclude: isRepository ? readIgnoreFile(root, `${path}.git/info/exclude`) : undefined,
  };
}

/** A link or an unreadable file counts as none, as it does for git. */
function readIgnoreFile(root: Root, path: string): FolderIgnore | undefined {
  let fd: number;
  try {
    fd = root.openBeneath(path as RelativePath, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code === undefined || FATAL.has(code)) throw thrown;
    return undefined;
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return undefined;
    const bytes = Buffer.allocUnsafe(Math.min(stat.size, MAX_IGNORE_BYTES));
    return parseGitIgnore(bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0)));
  } finally {
    closeSync(fd);
  }
}

interface FolderIgnoreFiles {
  readonly isRepository: boolean;
  readonly gitIgnore: FolderIgnore | undefined;
  readonly exclude: FolderIgnore | undefined;
}

/**
 * The ignore files that apply in one folder: its own first, then those above it, up to the repository's border. A
 * folder with `.git` is a repository of its own: ignore files above it do not apply there, and its `.git/info/exclude`
 * comes last.
 */
class IgnoreStack {
  readonly #checks: readonly FolderIgnore[];
  /** Roughly what one question costs. */
  readonly weight: number;

  constructor(checks: readonly FolderIgnore[] = []) {
    this.#checks = checks;
    this.weight = checks.reduce((sum, check) => sum + check.weight, 0);
  }

  enter(name: string, { isRepository, gitIgnore, exclude }: FolderIgnoreFiles): IgnoreStack {
    const checks: FolderIgnore[] = gitIgnore === undefined ? [] : [gitIgnore];
    let isSame = gitIgnore === undefined && !isRepository;
    if (!isRepository) {
      const bytes = byteString(name);
      for (const check of this.#checks) {
        const below = check.enter(bytes);
        isSame &&= below === check;
        checks.push(below);
      }
    }
    if (exclude !== undefined) checks.push(exclude);
    return isSame ? this : new IgnoreStack(checks);
  }

  ignores(name: string, kind: EntryKind): boolean {
    if (this.#checks.length === 0) return false;
    const subject = ignoreSubject(name, kind);
    for (const check of this.#checks) {
      const verdict = check.decide(subject);
      if (verdict !== undefined) return verdict === 'ignored';
    }
    return false;
  }
}
