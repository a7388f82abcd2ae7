/** Says how large a package is, and whether that is more than it may be. */
import type { Finding } from '../structure/finding.ts';
import type { Tarball } from './pack-packages.ts';
import { packagingFinding } from './packaging-finding.ts';
import type { SizeLimits } from './published-packages.ts';

export function judgeSizes(tarball: Tarball, limits: SizeLimits): Finding[] {
  const sizes = sizesOf(tarball);
  return (Object.keys(limits) as (keyof SizeLimits)[])
    .filter((key) => sizes[key] > limits[key])
    .map((key) =>
      packagingFinding(
        'package-size',
        tarball.manifest.name,
        `${key}: ${sizes[key]}, more than ${limits[key]}`,
        'See what has been added; if it belongs there, raise the limit in scripts/packaging/published-packages.ts',
      ),
    );
}

export function sizeLine(tarball: Tarball): string {
  const { packedKiB, unpackedKiB, files } = sizesOf(tarball);
  const name = `${tarball.manifest.name}@${tarball.manifest.version}`.padEnd(32);
  return `${name}${packedKiB} KiB packed, ${unpackedKiB} KiB unpacked, ${files} files`;
}

function sizesOf({ packedBytes, unpackedBytes, files }: Tarball): SizeLimits {
  return {
    packedKiB: Math.ceil(packedBytes / 1024),
    unpackedKiB: Math.ceil(unpackedBytes / 1024),
    files: files.length,
  };
}
