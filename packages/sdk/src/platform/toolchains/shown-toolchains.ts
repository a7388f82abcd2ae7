/**
 * Which toolchains the sandbox shows, and what goes with them: folders of programs, variables, and the secrets to cover.
 *
 * The operator decides: all toolchains of this machine, some, none, and folders of their own. A program there is often a
 * link to its installation elsewhere: that is shown too, when it may be. Nothing in the workspace has a say in this.
 */
import { lstatSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { WallProblem } from '../../contracts/commands.ts';
import type { Registry } from '../../contracts/registry.ts';
import { detectToolchains, expandHome, namesIn, realPathOf, type Toolchain } from './detect-toolchains.ts';

export interface ShownToolchains {
  /** Absolute; existing when they were looked at. */
  readonly readPaths: readonly string[];
  /** Folders of programs, before and after those of the system. */
  readonly first: readonly string[];
  readonly last: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Below what is shown, and not to be seen. */
  readonly secrets: readonly string[];
  /** Why nothing may start: the registry shows what must not be seen. */
  readonly problem?: WallProblem;
}

export interface ToolchainSetting {
  readonly registry: Pick<Registry, 'sandbox' | 'spot'>;
  /** Without links. */
  readonly workspace: string;
  readonly state: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly home?: string;
}

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
const MAX_LINKED = 64;

export function showToolchains(setting: ToolchainSetting): ShownToolchains {
  const { registry, workspace, state, env = process.env } = setting;
  const home = realPathOf(setting.home ?? homedir()) ?? homedir();
  const places: PersonalPlaces = { home, env, hidden: [realPathOf(state) ?? state] };
  const mayShow = (path: string): boolean => {
    const real = realPathOf(path);
    return real !== undefined && !isWithin(real, workspace) && whyNotShown(real, places) === undefined;
  };
  const { toolchains, read_only, path } = registry.sandbox;
  const found = detectToolchains({ env, home }).filter(({ name }) => toolchains?.includes(name) ?? true);
  const shown = found.filter(({ show }) => show.every((each) => isSystem(each) || mayShow(each)));
  const problem = problemOf(setting, places);
  const first = path.map((written) => expandHome(written, home));
  const last = unique(shown.flatMap((one) => one.path));
  const listed = [...read_only.map((written) => expandHome(written, home)), ...first];
  const own = unique([...listed, ...shown.flatMap(({ show }) => show)]).filter((each) => !isSystem(each));
  const readPaths = problem === undefined ? [...own, ...linkedPlaces([...first, ...last], own, mayShow)] : [];
  return {
    readPaths,
    first,
    last,
    env: Object.assign({}, ...shown.map((one: Toolchain) => one.env)),
    secrets: secretFiles({ home, shown: readPaths.map((each) => realPathOf(each) ?? each) }),
    ...(problem === undefined ? {} : { problem }),
  };
}

/** An entry that must not be shown stops every command: leaving it out in silence would only puzzle the operator. */
function problemOf(
  { registry, workspace, home = homedir() }: ToolchainSetting,
  places: PersonalPlaces,
): WallProblem | undefined {
  for (const key of ['read_only', 'path'] as const) {
    for (const [index, written] of registry.sandbox[key].entries()) {
      const real = realPathOf(expandHome(written, home));
      if (real === undefined || isSystem(real)) continue;
      const why = isWithin(real, workspace) ? 'the workspace is shown anyway' : whyNotShown(real, places);
      if (why === undefined) continue;
      const spot = registry.spot(`sandbox.${key}.${index}`);
      const place = spot === undefined ? '' : ` (${spot.file}:${spot.line})`;
      return {
        problem: `sandbox.${key} cannot show ${written}: ${why}${place}`,
        next: 'list the folder of the toolchain itself, such as ~/.cargo/bin, or take the entry out',
      };
    }
  }
  return undefined;
}

/** Installations that programs in these folders are links to: the folder around `bin`, or the one file. */
function linkedPlaces(
  folders: readonly string[],
  shown: readonly string[],
  mayShow: (path: string) => boolean,
): readonly string[] {
  const added: string[] = [];
  const queue = [...folders];
  for (const folder of queue) {
    for (const name of namesIn(folder)) {
      const path = join(folder, name);
      if (added.length >= MAX_LINKED) return added;
      if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
      const real = realPathOf(path);
      if (
        real === undefined ||
        isSystem(real) ||
        [...shown, ...added].some((one) => isWithin(real, realPathOf(one) ?? one))
      )
        continue;
      const around = basename(dirname(real)) === 'bin' ? dirname(dirname(real)) : real;
      const place = [around, real].find(mayShow);
      if (place === undefined || !statSync(real).isFile()) continue;
      added.push(place);
      if (place === around && around !== real) queue.push(join(around, 'bin'));
    }
  }
  return added;
}

function isSystem(path: string): boolean {
  return SYSTEM.some((folder) => isWithin(path, folder));
}

function unique(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)];
}

const SECRET_FOLDERS = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.config',
  '.password-store',
  '.mozilla',
  '.thunderbird',
  '.local/share/keyrings',
  '.local/state',
  '.terraform.d',
  '.vault-token',
  '.netrc',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.pypirc',
  '.git-credentials',
  '.gitconfig',
  '.bash_history',
  '.zsh_history',
];

const SECRET_FILES = [
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.cargo/config.toml',
  '.cargo/config',
  '.gem/credentials',
  '.bundle/config',
  '.m2/settings.xml',
  '.m2/settings-security.xml',
  '.gradle/gradle.properties',
  '.bunfig.toml',
  '.composer/auth.json',
  '.condarc',
];

/** Names that hold credentials wherever they lie. */
const CREDENTIAL_NAMES = [
  'credentials',
  'credentials.toml',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.git-credentials',
  'auth.json',
];

/** Folders of `.config` that hold a toolchain. */
const OPEN_CONFIG = ['.config/nvm', '.config/yarn/global'];

/** Sockets and data of the system; a read-only mount does not keep anyone from connecting to a socket. */
const SYSTEM_PLACES = ['/proc', '/sys', '/dev', '/run', '/var/run', '/etc', '/boot', '/var/lib', '/var/spool'];
const CROWDED = ['/', '/home', '/root', '/Users', '/tmp', '/var', '/var/tmp', '/mnt', '/media', '/opt', '/srv'];
const SOCKET_VARIABLES = [
  'SSH_AUTH_SOCK',
  'XDG_RUNTIME_DIR',
  'GPG_AGENT_INFO',
  'DOCKER_HOST',
  'DBUS_SESSION_BUS_ADDRESS',
];

interface PersonalPlaces {
  readonly home: string;
  /** The state folder of the runtime, and what else its owner keeps from commands. */
  readonly hidden: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * What of a person's home folder no command may see, whatever the registry shows.
 *
 * A folder that holds nothing but secrets is never shown, nor is a folder around it. A single file of secrets in a folder
 * that is worth showing, such as the credentials of cargo, is covered there.
 *
 * What is wrong with showing this path, which holds no link; undefined: nothing.
 */
function whyNotShown(path: string, { home, hidden, env }: PersonalPlaces): string | undefined {
  if (path === home || isWithin(home, path)) return 'it is the home folder, or holds it';
  if (CROWDED.includes(path)) return 'it holds far more than a toolchain';
  if (SYSTEM_PLACES.some((place) => isWithin(path, place))) return 'it belongs to the system';
  if (OPEN_CONFIG.some((open) => isWithin(path, join(home, open)))) return undefined;
  const secret = [...secretFolders(home), ...hidden, ...sockets(env)].find((place) => meets(path, place));
  if (secret !== undefined) return 'it holds secrets, or lies among them';
  const isFile = CREDENTIAL_NAMES.includes(basename(path)) || SECRET_FILES.some((name) => path === join(home, name));
  return isFile ? 'it holds secrets' : undefined;
}

/** Files in or below shown folders that are covered, whether they exist by now or not. Without links. */
function secretFiles({ home, shown }: { readonly home: string; readonly shown: readonly string[] }): string[] {
  const known = SECRET_FILES.map((name) => join(home, name));
  const named = shown.flatMap((folder) => CREDENTIAL_NAMES.map((name) => join(folder, name)));
  return [...new Set([...known.filter((file) => shown.some((folder) => isWithin(file, folder))), ...named])];
}

function secretFolders(home: string): readonly string[] {
  return SECRET_FOLDERS.map((name) => join(home, name));
}

function sockets(env: PersonalPlaces['env']): readonly string[] {
  const paths = SOCKET_VARIABLES.flatMap((name) => /\/[^,;]*/.exec(env[name] ?? '')?.[0] ?? []);
  return paths.map((path) => path.replace(/^\/+/, '/')).filter((path) => path.length > 1);
}

function meets(path: string, place: string): boolean {
  return isWithin(path, place) || isWithin(place, path);
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}
