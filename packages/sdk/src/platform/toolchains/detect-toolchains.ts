/** Finds the toolchains of the operator: by their variables, else where they install themselves. Starts nothing. */
import { existsSync, opendirSync, readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { ToolchainName } from '../../contracts/sandbox-names.ts';
import { errnoCode } from '../errno-error.ts';

/**
 * Toolchains that people install below their home folder: how each is found, what of it is shown to commands, and where
 * its programs are.
 *
 * `$NAME` at the beginning of a path stands for the folder that the variable of that name gives, or its default. What
 * holds settings or credentials of a person is not listed.
 */
interface KnownToolchain {
  readonly name: ToolchainName;
  /** Variable → where it points by default, first that exists; absolute or from `~/`. */
  readonly roots: Readonly<Record<string, readonly string[]>>;
  /** One of these must be there, or the toolchain is not. */
  readonly needs: readonly string[];
  readonly show: readonly string[];
  readonly path: readonly string[];
  /** Variables that its programs need when the folder is not the default. */
  readonly pass?: readonly string[];
  /** The name of one of many versions, found in a file of this path. */
  readonly version?: { readonly file: string; readonly folder: string };
}

const KNOWN_TOOLCHAINS: readonly KnownToolchain[] = [
  {
    name: 'rust',
    roots: { CARGO_HOME: ['~/.cargo'], RUSTUP_HOME: ['~/.rustup'] },
    needs: ['$CARGO_HOME/bin/cargo'],
    show: ['$CARGO_HOME/bin', '$RUSTUP_HOME'],
    path: ['$CARGO_HOME/bin'],
    pass: ['RUSTUP_HOME'],
  },
  {
    name: 'nvm',
    roots: { NVM_DIR: ['~/.nvm', '~/.config/nvm'] },
    needs: ['$NVM_DIR/versions/node'],
    show: ['$NVM_DIR/versions'],
    path: ['$VERSION/bin'],
    version: { file: '$NVM_DIR/alias/default', folder: '$NVM_DIR/versions/node' },
  },
  {
    name: 'fnm',
    roots: { FNM_DIR: ['~/.local/share/fnm', '~/.fnm'] },
    needs: ['$FNM_DIR/node-versions'],
    show: ['$FNM_DIR/node-versions', '$FNM_DIR/aliases'],
    path: ['$FNM_DIR/aliases/default/bin'],
  },
  {
    name: 'volta',
    roots: { VOLTA_HOME: ['~/.volta'] },
    needs: ['$VOLTA_HOME/bin'],
    show: ['$VOLTA_HOME/bin', '$VOLTA_HOME/tools'],
    path: ['$VOLTA_HOME/bin'],
    pass: ['VOLTA_HOME'],
  },
  {
    name: 'bun',
    roots: { BUN_INSTALL: ['~/.bun'] },
    needs: ['$BUN_INSTALL/bin/bun'],
    show: ['$BUN_INSTALL/bin'],
    path: ['$BUN_INSTALL/bin'],
  },
  {
    name: 'deno',
    roots: { DENO_INSTALL: ['~/.deno'] },
    needs: ['$DENO_INSTALL/bin/deno'],
    show: ['$DENO_INSTALL/bin'],
    path: ['$DENO_INSTALL/bin'],
  },
  {
    name: 'venv',
    roots: { VIRTUAL_ENV: [] },
    needs: ['$VIRTUAL_ENV/pyvenv.cfg'],
    show: ['$VIRTUAL_ENV'],
    path: ['$VIRTUAL_ENV/bin'],
  },
  {
    name: 'pyenv',
    roots: { PYENV_ROOT: ['~/.pyenv'] },
    needs: ['$PYENV_ROOT/versions'],
    show: ['$PYENV_ROOT'],
    path: ['$PYENV_ROOT/shims', '$PYENV_ROOT/bin'],
    pass: ['PYENV_ROOT'],
  },
  {
    name: 'uv',
    roots: { UV_INSTALL_DIR: ['~/.local/bin'], UV_DATA: ['~/.local/share/uv'] },
    needs: ['$UV_INSTALL_DIR/uv'],
    show: ['$UV_INSTALL_DIR/uv', '$UV_INSTALL_DIR/uvx', '$UV_DATA/python', '$UV_DATA/tools'],
    path: ['$UV_INSTALL_DIR'],
  },
  {
    name: 'conda',
    roots: { CONDA_PREFIX: ['~/miniconda3', '~/miniforge3', '~/mambaforge', '~/anaconda3', '/opt/conda'] },
    needs: ['$CONDA_PREFIX/conda-meta'],
    show: ['$CONDA_PREFIX'],
    path: ['$CONDA_PREFIX/bin'],
  },
  {
    name: 'go',
    roots: { GOROOT: ['/usr/local/go', '~/sdk/go', '~/.local/go'], GOPATH: ['~/go'] },
    needs: ['$GOROOT/bin/go', '$GOPATH/bin'],
    show: ['$GOROOT', '$GOPATH/bin'],
    path: ['$GOROOT/bin', '$GOPATH/bin'],
  },
  {
    name: 'java',
    roots: { JAVA_HOME: [] },
    needs: ['$JAVA_HOME/bin/java'],
    show: ['$JAVA_HOME'],
    path: ['$JAVA_HOME/bin'],
    pass: ['JAVA_HOME'],
  },
  {
    name: 'sdkman',
    roots: { SDKMAN_CANDIDATES_DIR: ['~/.sdkman/candidates'] },
    needs: ['$SDKMAN_CANDIDATES_DIR'],
    show: ['$SDKMAN_CANDIDATES_DIR'],
    path: ['java', 'maven', 'gradle', 'kotlin', 'scala', 'sbt'].map(
      (name) => `$SDKMAN_CANDIDATES_DIR/${name}/current/bin`,
    ),
  },
  {
    name: 'rbenv',
    roots: { RBENV_ROOT: ['~/.rbenv'] },
    needs: ['$RBENV_ROOT/versions'],
    show: ['$RBENV_ROOT'],
    path: ['$RBENV_ROOT/shims', '$RBENV_ROOT/bin'],
    pass: ['RBENV_ROOT'],
  },
  {
    name: 'rvm',
    roots: { rvm_path: ['~/.rvm'] },
    needs: ['$rvm_path/rubies/default/bin/ruby'],
    show: ['$rvm_path/rubies', '$rvm_path/gems'],
    path: ['$rvm_path/rubies/default/bin'],
  },
];

const MAX_NAMES = 2000;

export interface Toolchain {
  readonly name: string;
  /** Existing files and folders it needs, absolute. */
  readonly show: readonly string[];
  /** Its folders of programs. */
  readonly path: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface DetectOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly home?: string;
}

export function detectToolchains({ env = process.env, home = homedir() }: DetectOptions = {}): readonly Toolchain[] {
  return KNOWN_TOOLCHAINS.flatMap((known) => findToolchain(known, env, home));
}

function findToolchain(
  known: KnownToolchain,
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): readonly Toolchain[] {
  const roots = new Map<string, string>();
  for (const [name, defaults] of Object.entries(known.roots)) {
    const given = env[name];
    const places = [...(given !== undefined && isAbsolute(given) ? [given] : []), ...defaults];
    const found = places.map((place) => expandHome(place, home)).find((place) => existsSync(place));
    if (found !== undefined) roots.set(name, found);
  }
  const place = (path: string): string | undefined => expandRoot(path, roots);
  const present = (paths: readonly string[]): readonly string[] =>
    paths.flatMap((path) => place(path) ?? []).filter((path) => existsSync(path));
  if (present(known.needs).length === 0) return [];
  if (known.version !== undefined) {
    const chosen = chooseVersion(place(known.version.file), place(known.version.folder));
    if (chosen !== undefined) roots.set('VERSION', chosen);
  }
  const passed = (known.pass ?? []).flatMap((name) => {
    const root = roots.get(name);
    return root === undefined ? [] : [[name, root] as const];
  });
  return [{ name: known.name, show: present(known.show), path: present(known.path), env: Object.fromEntries(passed) }];
}

export function expandHome(path: string, home: string = homedir()): string {
  return path === '~' || path.startsWith('~/') ? join(home, path.slice(2)) : path;
}

/** As a person would write it in a registry. */
export function shortenHome(path: string, home: string = homedir()): string {
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

function expandRoot(path: string, roots: ReadonlyMap<string, string>): string | undefined {
  const [first = '', ...rest] = path.split('/');
  const root = roots.get(first.slice(1));
  return root === undefined ? undefined : join(root, ...rest);
}

/** The version that a file names (`20`, `v20.1.0`), else the newest there is. */
function chooseVersion(file: string | undefined, folder: string | undefined): string | undefined {
  if (folder === undefined) return undefined;
  const versions = namesIn(folder).toSorted((left, right) => left.localeCompare(right, 'en', { numeric: true }));
  const wanted = file === undefined ? '' : textOf(file).trim().replace(/^v/, '');
  const named = versions.findLast((name) => name === `v${wanted}` || name.startsWith(`v${wanted}.`));
  const chosen = named ?? versions.at(-1);
  return chosen === undefined ? undefined : join(folder, chosen);
}

/** The first of them, in a folder with very many. */
export function namesIn(folder: string): readonly string[] {
  const names: string[] = [];
  try {
    const directory = opendirSync(folder);
    for (let entry = directory.readSync(); entry !== null && names.length < MAX_NAMES; entry = directory.readSync()) {
      names.push(entry.name);
    }
    directory.closeSync();
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
  }
  return names.toSorted();
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').slice(0, 200);
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return '';
  }
}

/** Undefined where there is nothing, or nothing we may look at. */
export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return undefined;
  }
}
