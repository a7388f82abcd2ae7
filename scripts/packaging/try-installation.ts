/** Installs the packages on one Node and uses all of them there, first without and then with the optional peers. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Finding } from '../structure/finding.ts';
import { type Installation, installPackages, judgeInstallation } from './install-packages.ts';
import { installedPackage, linkPackages } from './link-packages.ts';
import type { NodeRelease } from './node-releases.ts';
import { entriesOf, type Tarball } from './pack-packages.ts';
import { PEER_OF_ENTRY } from './published-packages.ts';
import { tryEntries } from './try-entries.ts';
import { tryCommand, tryProgram } from './try-programs.ts';

export interface PackedPackages {
  readonly root: string;
  readonly tarballs: readonly Tarball[];
  /** For everything that is made here. */
  readonly place: string;
}

export interface TriedInstallation {
  readonly installation: Installation;
  readonly findings: readonly Finding[];
}

export async function tryInstallation(packed: PackedPackages, node: NodeRelease): Promise<TriedInstallation> {
  const { root, tarballs, place } = packed;
  const installation = await installPackages(tarballs, node, place);
  const entries = tarballs.flatMap(({ manifest }) => entriesOf(manifest));
  const findings = [
    ...judgeInstallation(installation),
    ...(await tryEntries(entries, installation)),
    ...(await tryProgram('embedding-program', installation)),
    ...(await tryCommand(installation, tarballs[0]?.manifest.version ?? '')),
  ];
  linkPeers(root, installation);
  findings.push(...(await tryEntries(entries, installation)), ...(await tryProgram('framework-program', installation)));
  return { installation, findings };
}

/** Those of the checkout, in the versions the adapters are tested with: fetching them again would take longest of all. */
function linkPeers(root: string, { folder }: Installation): void {
  const missing = [...PEER_OF_ENTRY.values()].filter((peer) => !existsSync(path.join(folder, 'node_modules', peer)));
  linkPackages(
    folder,
    [...missing, '@types/node'].map((name) => installedPackage(root, name)),
  );
}
