/**
 * npm run release -- --dry-run: whether this commit can be published as the version it names. Checks versions, changelog,
 * provenance settings, the work tree, and the tarballs that npm would publish; publishes nothing. Ends with 1 when
 * anything does not hold, and otherwise prints the commands that publish.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { examineTarball, makeTarballs } from './packaging/examine-tarballs.ts';
import { judgeRelease, type ReleaseFacts, type ReleaseManifest } from './packaging/judge-release.ts';
import { sizeLine } from './packaging/judge-sizes.ts';
import { PUBLISHED } from './packaging/published-packages.ts';
import { type Finding, formatFinding } from './structure/finding.ts';

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>;
}

export function releaseFacts(root: string): ReleaseFacts {
  const read = (...names: string[]): string => readFileSync(path.join(root, ...names), 'utf8');
  const git = (...words: string[]): string => execFileSync('git', words, { cwd: root, encoding: 'utf8' });
  const folders = PUBLISHED.map(({ folder }) => folder);
  const lock = JSON.parse(read('package-lock.json')) as Lock;
  return {
    version: (JSON.parse(read('package.json')) as ReleaseManifest).version,
    manifests: new Map(folders.map((folder) => [folder, JSON.parse(read('packages', folder, 'package.json'))])),
    locked: new Map(folders.map((folder) => [folder, lock.packages[`packages/${folder}`]?.version])),
    changelog: read('CHANGELOG.md'),
    tags: git('tag', '--list').split('\n'),
    changes: git('status', '--porcelain'),
  };
}

async function examineTarballs(root: string): Promise<Finding[]> {
  const place = mkdtempSync(path.join(tmpdir(), 'tool-runtime-release-'));
  try {
    const tarballs = await makeTarballs(root, place);
    for (const tarball of tarballs) console.log(sizeLine(tarball));
    const found = tarballs.map((tarball, at) => {
      const rules = PUBLISHED[at];
      return rules === undefined ? [] : examineTarball(tarball, rules, root);
    });
    return (await Promise.all(found)).flat();
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function main(root: string): Promise<number> {
  if (!process.argv.includes('--dry-run')) {
    console.error('release: only --dry-run is done here; it prints the commands that publish');
    return 2;
  }
  const facts = releaseFacts(root);
  const findings = [...judgeRelease(facts), ...(await examineTarballs(root))];
  for (const finding of findings) console.log(formatFinding(finding));
  const failures = findings.filter(({ level }) => level === 'fail').length;
  const left = findings.length - failures;
  console.log(`release: ${facts.version}, ${PUBLISHED.length} packages, ${failures} failures, ${left} left to do`);
  if (failures > 0) return 1;
  if (left > 0) {
    console.log('nothing is wrong; do what is left before you publish');
    return 0;
  }
  const names = PUBLISHED.map(({ folder }) => `-w packages/${folder}`).join(' ');
  console.log(
    `next, in continuous integration:\n  git tag v${facts.version} && git push --tags\n  npm publish ${names}`,
  );
  return 0;
}

if (import.meta.main) process.exitCode = await main(path.join(import.meta.dirname, '..'));
