/**
 * npm run packages: packs every package and looks at it as a stranger would get it. Sizes, contents, entries and types
 * of the tarballs; then an installation into an empty folder on each supported Node, where all entries are imported,
 * calls are made, the command is run and programs are compiled.
 *
 * Installing needs the registry that npm is set up for. Ends with 1 when anything does not hold.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { checkTypes, TYPED_PROGRAMS } from './packaging/check-types.ts';
import { examineTarball, makeTarballs } from './packaging/examine-tarballs.ts';
import { sizeLine } from './packaging/judge-sizes.ts';
import { fetchNode, projectNode } from './packaging/node-releases.ts';
import { PUBLISHED } from './packaging/published-packages.ts';
import { type PackedPackages, tryInstallation } from './packaging/try-installation.ts';
import { type Finding, formatFinding } from './structure/finding.ts';

const OLDEST_NODE = '22';

const root = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '..'));
const place = mkdtempSync(path.join(tmpdir(), 'tool-runtime-packages-'));
try {
  const findings = await checkPackages(root, place);
  for (const finding of findings) console.log(formatFinding(finding));
  say(`packages: ${PUBLISHED.length} packed and installed, ${findings.length} failures`);
  if (findings.length > 0) process.exitCode = 1;
} finally {
  rmSync(place, { recursive: true, force: true });
}

async function checkPackages(root: string, place: string): Promise<Finding[]> {
  const tarballs = await makeTarballs(root, place);
  for (const tarball of tarballs) say(sizeLine(tarball));
  const packed: PackedPackages = { root, tarballs, place };
  const groups = await Promise.all([
    ...PUBLISHED.map((rules, at) => examine(rules, at)),
    onProjectNode(packed),
    onOldestNode(packed),
  ]);
  return groups.flat();

  async function examine(rules: (typeof PUBLISHED)[number], at: number): Promise<Finding[]> {
    const tarball = tarballs[at];
    return tarball === undefined ? [] : examineTarball(tarball, rules, root);
  }
}

async function onProjectNode(packed: PackedPackages): Promise<Finding[]> {
  const { installation, findings } = await tryInstallation(packed, projectNode(packed.root));
  say('Node 24: installed, every entry imported, programs and command run');
  const typed = await Promise.all(
    TYPED_PROGRAMS.map((program) => checkTypes(program, packed.root, installation.folder)),
  );
  say('types: programs compiled against the installed declarations');
  return [...findings, ...typed.flat()];
}

async function onOldestNode(packed: PackedPackages): Promise<Finding[]> {
  const node = await fetchNode(OLDEST_NODE, packed.root, packed.place);
  const { findings } = await tryInstallation(packed, node);
  say(`Node ${OLDEST_NODE}: installed, every entry imported, programs and command run`);
  return [...findings];
}

function say(line: string): void {
  console.log(`${line}  (${Math.round(process.uptime())} s)`);
}
