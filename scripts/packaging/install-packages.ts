/** Installs the packages as a stranger would: into an empty folder, with an empty home, without install scripts. */
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Finding } from '../structure/finding.ts';
import { emptyHome } from './empty-home.ts';
import type { NodeRelease } from './node-releases.ts';
import { npmInstall } from './npm-install.ts';
import type { Tarball } from './pack-packages.ts';
import { packagingFinding } from './packaging-finding.ts';

export interface Installation {
  readonly node: NodeRelease;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Dependencies that would run a script on installation, and why that is no harm. */
const SCRIPTED: ReadonlyMap<string, string> = new Map([
  ['koffi', 'optional; its binary comes as a package, the script only compiles where there is none'],
]);

export async function installPackages(
  tarballs: readonly Tarball[],
  node: NodeRelease,
  place: string,
): Promise<Installation> {
  const home = path.join(place, `on-node-${node.major}`);
  const folder = path.join(home, 'project');
  mkdirSync(folder, { recursive: true });
  const env = emptyHome(home, node.folder);
  await npmInstall(['--ignore-scripts', ...tarballs.map(({ file }) => file)], { cwd: folder, env });
  return { node, folder, env };
}

export function judgeInstallation({ folder }: Installation): Finding[] {
  const lock = JSON.parse(readFileSync(path.join(folder, 'package-lock.json'), 'utf8')) as LockFile;
  const scripted = Object.entries(lock.packages).filter(([, entry]) => entry.hasInstallScript === true);
  return scripted
    .map(([place]) => place.replace(/^.*node_modules\//, ''))
    .filter((name) => !SCRIPTED.has(name))
    .map((name) =>
      packagingFinding(
        'install-scripts',
        name,
        'A dependency runs a script on installation',
        'Do without it, or show that it works without the script and name it in SCRIPTED',
      ),
    );
}

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
}
