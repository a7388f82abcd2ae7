/** What the published manifest promises: nothing runs on installation, every entry is there, peers are known. */
import path from 'node:path';
import type { Finding } from '../structure/finding.ts';
import { entriesOf, type Tarball } from './pack-packages.ts';
import { packagingFinding } from './packaging-finding.ts';
import { PEER_OF_ENTRY, PEERS_ON_DEMAND } from './published-packages.ts';

/** npm runs these where a package is installed, `prepare` where it is installed from git. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare'];

export function judgeManifest(tarball: Tarball): Finding[] {
  return [...installScripts(tarball), ...missingEntries(tarball), ...looseVersions(tarball), ...unknownPeers(tarball)];
}

function installScripts({ manifest, files }: Tarball): Finding[] {
  const next = 'Ship what is built; nothing of ours runs on installation';
  const named = INSTALL_SCRIPTS.filter((script) => manifest.scripts?.[script] !== undefined);
  // npm compiles where it finds one, without a script that says so.
  const implied = files.filter((name) => name === 'binding.gyp');
  return [...named, ...implied].map((name) => fail(manifest.name, `Runs on installation: ${name}`, next));
}

function missingEntries({ manifest, files }: Tarball): Finding[] {
  const entries = Object.entries(manifest.exports ?? {});
  const untyped = entries.filter(([, to]) => typeof to !== 'string' && !to['types']?.endsWith('.d.ts'));
  const targets = entries.flatMap(([, to]) => (typeof to === 'string' ? [to] : Object.values(to)));
  const named = [...targets, ...Object.values(manifest.bin ?? {})];
  const missing = named.filter((target) => !files.includes(path.posix.normalize(target)));
  return [
    ...untyped.map(([key]) => fail(manifest.name, `Entry without types: ${key}`, 'Name its .d.ts under `types`')),
    ...missing.map((file) => fail(manifest.name, `Not in the package: ${file}`, 'Build it, or name what is there')),
  ];
}

/** Our packages are released together and tested together. */
function looseVersions({ manifest }: Tarball): Finding[] {
  const scope = `${manifest.name.split('/')[0]}/`;
  return Object.entries(manifest.dependencies ?? {})
    .filter(([name, range]) => name.startsWith(scope) && range !== manifest.version)
    .map(([name, range]) => fail(manifest.name, `Depends on ${name}@${range}`, `Name ${manifest.version} exactly`));
}

function unknownPeers({ manifest }: Tarball): Finding[] {
  const known = new Set(entriesOf(manifest).map((entry) => PEER_OF_ENTRY.get(entry)));
  return Object.keys(manifest.peerDependencies ?? {}).flatMap((peer) => [
    ...(known.has(peer) || PEERS_ON_DEMAND.includes(peer)
      ? []
      : [fail(manifest.name, `No entry is known to need ${peer}`, 'Name the entry in PEER_OF_ENTRY')]),
    ...(manifest.peerDependenciesMeta?.[peer]?.optional === true
      ? []
      : [fail(manifest.name, `Peer for everybody: ${peer}`, 'Make it optional: only one entry needs it')]),
  ]);
}

function fail(name: string, what: string, next: string): Finding {
  return packagingFinding('package-manifest', name, what, next);
}
