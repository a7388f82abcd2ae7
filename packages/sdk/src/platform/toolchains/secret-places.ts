/**
 * What of a person's home folder no command may see, whatever the registry shows.
 *
 * A folder that holds nothing but secrets is never shown, nor is a folder around it. A single file of secrets in a folder
 * that is worth showing, such as the credentials of cargo, is covered there.
 */
import { basename, join } from 'node:path';

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

export interface PersonalPlaces {
  readonly home: string;
  /** The state folder of the runtime, and what else its owner keeps from commands. */
  readonly hidden: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What is wrong with showing this path, which holds no link; undefined: nothing. */
export function whyNotShown(path: string, { home, hidden, env }: PersonalPlaces): string | undefined {
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
export function secretFiles({ home, shown }: { readonly home: string; readonly shown: readonly string[] }): string[] {
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
