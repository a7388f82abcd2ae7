/**
 * `npm ci` empties `node_modules` before it fetches. Without a network it would then fail and leave nothing, so it is
 * refused before it starts, unless everything it needs is in the cache. Other package managers fetch first and replace
 * afterwards. This saves work and protects nothing: an install that a script starts is not seen here.
 */
import { existsSync, opendirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { isJsonObject, type JsonObject, ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import type { CommandList } from '../../contracts/command-list.ts';

export interface InstallPlace {
  readonly workspace: string;
  /** Where the line starts, below the workspace. */
  readonly cwd: string;
  /** The cache of npm as it lies outside the sandbox, if commands keep one. */
  readonly cache: string | undefined;
}

const CLEAN_INSTALL = new Set(
  'ci clean-install ic install-clean isntall-clean cit clean-install-test install-ci-test sit'.split(' '),
);
const LOCK_FILES = ['npm-shrinkwrap.json', 'package-lock.json'];
const MAX_LOCK_BYTES = 64 * 1024 * 1024;
const SHOWN = 5;

/** Throws E_SHELL for a command of the line that would delete packages it cannot install again. */
export function refuseOfflineReinstall({ pipelines, script }: CommandList, place: InstallPlace): void {
  const commands = script?.seen ?? pipelines.flatMap((pipeline) => pipeline.commands);
  let folder = join(place.workspace, place.cwd);
  for (const { argv } of commands) {
    const [program = '', first = ''] = argv;
    if (program === 'cd') folder = resolve(folder, first);
    if (basename(program) === 'npm') checkInstall(argv.slice(1), folder, place);
  }
}

function checkInstall(words: readonly string[], folder: string, { workspace, cache }: InstallPlace): void {
  const verb = words.find((word) => CLEAN_INSTALL.has(word));
  if (verb === undefined || words.some((word) => word === '--dry-run' || word === '--help')) return;
  const prefix = prefixIn(words, ['--prefix', '-C']);
  const place = prefix === undefined ? folder : resolve(folder, prefix);
  if (place !== workspace && !place.startsWith(`${workspace}/`)) return;
  if (isEmpty(join(place, 'node_modules'))) return;
  const missing = missingPackages(place, cache, { dev: !omitsDev(words) });
  if (missing.length === 0) return;
  const names = missing.slice(0, SHOWN).map((name) => safeText(name, 100));
  const more = missing.length > SHOWN ? ` and ${missing.length - SHOWN} more` : '';
  throw new ToolError(
    'E_SHELL',
    `npm ${verb} would empty node_modules and then fail: the network is off, and the cache lacks ${names.join(', ')}${more}`,
    {
      details: {
        reason: 'network_off',
        missing: missing.length,
        next: 'call again with allow_network: true, and list the package registry in network.allowed_domains; or keep node_modules and use npm install --offline',
      },
    },
  );
}

function prefixIn(words: readonly string[], names: readonly string[]): string | undefined {
  const at = words.findIndex((word) => names.includes(word));
  if (at >= 0) return words[at + 1];
  return words.find((word) => word.startsWith('--prefix='))?.slice('--prefix='.length);
}

function omitsDev(words: readonly string[]): boolean {
  const isOmitted = words.some((word, at) => word === '--omit=dev' || (word === '--omit' && words[at + 1] === 'dev'));
  return isOmitted || words.includes('--production') || words.includes('--only=production');
}

function isEmpty(folder: string): boolean {
  try {
    const opened = opendirSync(folder);
    const first = opened.readSync();
    opened.closeSync();
    return first === null;
  } catch {
    // Not there, or not a folder: nothing that could be lost.
    return true;
  }
}

/** Packages of the lock file that npm would have to fetch. Nothing where there is no lock: npm itself refuses then. */
function missingPackages(
  folder: string,
  cache: string | undefined,
  { dev }: { readonly dev: boolean },
): readonly string[] {
  return Object.entries(lockedPackages(folder)).flatMap(([path, entry]) => {
    if (path === '' || !isJsonObject(entry)) return [];
    const isLocal = entry['link'] === true || entry['inBundle'] === true || !isFetched(entry['resolved']);
    if (isLocal || entry['optional'] === true || (entry['dev'] === true && !dev)) return [];
    return isCached(entry['integrity'], cache) ? [] : [path.slice(path.lastIndexOf('node_modules/') + 13)];
  });
}

function lockedPackages(folder: string): JsonObject {
  const file = LOCK_FILES.map((name) => join(folder, name)).find((path) => existsSync(path));
  if (file === undefined || statSync(file).size > MAX_LOCK_BYTES) return {};
  try {
    const lock: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const packages = isJsonObject(lock) ? lock['packages'] : undefined;
    return isJsonObject(packages) ? packages : {};
  } catch {
    // npm says what is wrong with it, before it deletes anything.
    return {};
  }
}

function isFetched(resolved: unknown): boolean {
  return typeof resolved !== 'string' || !resolved.startsWith('file:');
}

/** Content of npm's cache is filed by its digest. */
function isCached(integrity: unknown, cache: string | undefined): boolean {
  if (typeof integrity !== 'string' || cache === undefined) return false;
  return integrity.split(' ').some((word) => {
    const [algorithm = '', digest = ''] = word.split('-', 2);
    const hex = Buffer.from(digest, 'base64').toString('hex');
    if (!/^sha\d+$/.test(algorithm) || hex.length < 8) return false;
    return existsSync(join(cache, '_cacache/content-v2', algorithm, hex.slice(0, 2), hex.slice(2, 4), hex.slice(4)));
  });
}
