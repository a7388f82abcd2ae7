/** All that can be said of the packages without installing them. */
import type { Finding } from '../structure/finding.ts';
import { buildPackages } from './build-packages.ts';
import { judgeContents } from './judge-contents.ts';
import { judgeEntries } from './judge-entries.ts';
import { judgeLeaks } from './judge-leaks.ts';
import { judgeManifest } from './judge-manifest.ts';
import { judgeSizes } from './judge-sizes.ts';
import { packPackages, type Tarball } from './pack-packages.ts';
import { PUBLISHED, type PublishedPackage } from './published-packages.ts';

/** In the order of PUBLISHED. */
export async function makeTarballs(root: string, place: string): Promise<Tarball[]> {
  const names = PUBLISHED.map(({ folder }) => folder);
  await buildPackages(root, names);
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
