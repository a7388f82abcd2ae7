/** Which files lie in a package: all that it needs, and nothing that only we need. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Finding } from '../structure/finding.ts';
import type { Tarball } from './pack-packages.ts';
import { packagingFinding } from './packaging-finding.ts';

const SHIPPED: readonly RegExp[] = [
  /^(?:package\.json|README\.md|LICENSE)$/,
  /^dist\/.*\.(?:c?js|d\.ts)(?:\.map)?$/,
  /^dist\/(?:command\/)?THIRD-PARTY-LICENSES$/,
  /^src\/.*\.ts$/,
];
/** Would pass for sources by their names. */
const TEST_FILE = /(?:^|\/)(?:tests?|fixtures|__\w+__)\/|\.(?:test|spec)\.[^/]+$/;
const NEEDED = ['README.md', 'LICENSE'];

export interface ContentRules {
  /** Where the licence of all packages lies. */
  readonly root: string;
  /** Files other than dist, src, manifest, readme and licence. */
  readonly ships?: readonly RegExp[];
}

export function judgeContents(tarball: Tarball, rules: ContentRules): Finding[] {
  return [...missingFiles(tarball, rules), ...strangeFiles(tarball, rules), ...unmatchedFiles(tarball)];
}

function missingFiles({ manifest, files, folder }: Tarball, { root }: ContentRules): Finding[] {
  const missing = NEEDED.filter((name) => !files.includes(name));
  const findings = missing.map((name) => fail(manifest.name, `No ${name}`, 'Put one beside its package.json'));
  if (missing.includes('LICENSE')) return findings;
  const isOurs = readFileSync(path.join(folder, 'LICENSE')).equals(readFileSync(path.join(root, 'LICENSE')));
  return isOurs ? findings : [...findings, fail(manifest.name, 'A licence of its own', 'Copy LICENSE of the root')];
}

function strangeFiles({ manifest, files }: Tarball, { ships = [] }: ContentRules): Finding[] {
  const known = [...SHIPPED, ...ships];
  return files
    .filter((name) => TEST_FILE.test(name) || !known.some((pattern) => pattern.test(name)))
    .map((name) => fail(`${manifest.name}/${name}`, 'Of no use to who installs it', 'Leave it out under `files`'));
}

/** Source maps lead to the sources, declarations come from one each; a file without its partner is of another build. */
function unmatchedFiles({ manifest, files, folder }: Tarball): Finding[] {
  const present = new Set(files);
  const next = 'Build again; when it is still there, see `files`';
  return files.flatMap((name) =>
    partnersOf(name, folder)
      .filter((other) => !present.has(other))
      .map((other) => fail(`${manifest.name}/${name}`, `No ${other}`, next)),
  );
}

function partnersOf(name: string, folder: string): readonly string[] {
  const [, declared] = /^dist\/(.*)\.d\.ts$/.exec(name) ?? [];
  if (declared !== undefined) return [`src/${declared}.ts`];
  const [, source] = /^src\/(.*)\.ts$/.exec(name) ?? [];
  if (source !== undefined) return [`dist/${source}.d.ts`];
  // Pages are sent to browsers without maps.
  if (/^dist\/(?!console\/).*\.c?js$/.test(name)) return [`${name}.map`];
  return /^dist\/.*\.c?js\.map$/.test(name) ? sourcesOf(name, folder) : [];
}

/** Those in this package; sources of other packages come with them. */
function sourcesOf(map: string, folder: string): readonly string[] {
  const { sources } = JSON.parse(readFileSync(path.join(folder, map), 'utf8')) as { readonly sources: string[] };
  return sources
    .map((source) => path.posix.join(path.posix.dirname(map), source))
    .filter((file) => /^src\//.test(file));
}

function fail(file: string, what: string, next: string): Finding {
  return packagingFinding('package-contents', file, what, next);
}
