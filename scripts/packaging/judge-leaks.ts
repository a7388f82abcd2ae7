/** What files of a package must not disclose: secrets, and the machine it was built on. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { createSecretScanner } from '../../packages/sdk/src/secrets/secret-scanner.ts';
import type { Finding } from '../structure/finding.ts';
import { checkMachineTraces } from '../structure/machine-traces.ts';
import type { TextFile } from '../structure/read-tree.ts';
import type { Tarball } from './pack-packages.ts';
import { packagingFinding } from './packaging-finding.ts';

export async function judgeLeaks({ manifest, files, folder }: Tarball, root: string): Promise<Finding[]> {
  const scanner = createSecretScanner();
  const findings: Finding[] = [];
  const texts: TextFile[] = [];
  for (const name of files) {
    const bytes = readFileSync(path.join(folder, name));
    const file = `${manifest.name}/${name}`;
    for (const { message, line } of await scanner.scan({ name, bytes }))
      findings.push({ ...fail(file, `Secret: ${message}`, 'Take it out, and make it worthless'), line });
    if (!bytes.includes(0)) texts.push({ path: file, text: bytes.toString('utf8') });
  }
  return [...findings, ...checkMachineTraces({ texts }), ...texts.flatMap((file) => ownPaths(file, root))];
}

/** The folders of this very build, wherever it runs; `/app` and the like also occur in texts by chance. */
function ownPaths({ path: file, text }: TextFile, root: string): Finding[] {
  const places = [root, homedir()].filter((place) => place.split(path.sep).length > 2);
  return places
    .filter((place) => text.includes(`${place}/`))
    .map(() => fail(file, 'Path of the machine it was built on', 'Find out what writes it'));
}

function fail(file: string, what: string, next: string): Finding {
  return packagingFinding('package-leaks', file, what, next);
}
