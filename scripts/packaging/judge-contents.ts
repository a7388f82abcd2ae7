/** Which files lie in a package: all that it needs, and nothing that only we need. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Finding } from '../structure/finding.ts';
import type { Tarball } from './pack-packages.ts';
import { packagingFinding } from './packaging-finding.ts';

const SHIPPED: readonly RegExp[] = [
  /^(?:package\.json|README\.md|LICENSE)$/,
  /^dist\/.*\.(?:js|d\.ts)(?:\.map)?$/,
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

/** Source maps lead to the sources; and a file without its partner comes from another build. */
function unmatchedFiles({ manifest, files }: Tarball): Finding[] {
  const present = new Set(files);
  const next = 'Build again; when it is still there, see `files`';
  return files.flatMap((name) => {
    const stem = /^(?:dist\/(.*)\.js|src\/(.*)\.ts)$/.exec(name);
    const other = stem?.[1] === undefined ? stem?.[2] && `dist/${stem[2]}.js` : `src/${stem[1]}.ts`;
    return other === undefined || present.has(other) ? [] : [fail(`${manifest.name}/${name}`, `No ${other}`, next)];
  });
}

function fail(file: string, what: string, next: string): Finding {
  return packagingFinding('package-contents', file, what, next);
}
