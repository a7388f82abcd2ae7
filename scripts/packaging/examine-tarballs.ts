/** All that can be said of the packages without installing them. */
import path from 'node:path';
import type { Finding } from '../structure/finding.ts';
import { buildDeclarations } from './build-declarations.ts';
import { judgeContents } from './judge-contents.ts';
import { judgeEntries } from './judge-entries.ts';
import { judgeLeaks } from './judge-leaks.ts';
import { judgeManifest } from './judge-manifest.ts';
import { judgeSizes } from './judge-sizes.ts';
import { packPackages, type Tarball } from './pack-packages.ts';
import { PUBLISHED, type PublishedPackage } from './published-packages.ts';
import { mustRun } from './run-program.ts';

/** In the order of PUBLISHED. */
export async function makeTarballs(root: string, place: string): Promise<Tarball[]> {
  const names = PUBLISHED.map(({ folder }) => folder);
  await buildDeclarations(root, names);
  const bundler = ['-C', 'tool-runtime-source', path.join(root, 'scripts/bundle-packages.ts'), root];
  await mustRun(process.execPath, bundler, { cwd: root });
  return packPackages(root, names, place);
}

export async function examineTarball(tarball: Tarball, rules: PublishedPackage, root: string): Promise<Finding[]> {
  const { limits, ships = [] } = rules;
  return [
    ...judgeSizes(tarball, limits),
    ...judgeManifest(tarball),
    ...judgeContents(tarball, { root, ships }),
    ...(await judgeLeaks(tarball, root)),
    ...(await judgeEntries(tarball)),
  ];
}
