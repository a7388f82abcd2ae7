/** Pairs of files from consecutive published versions of packages, fetched with `npm pack` when the benchmark runs. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FilePair } from './cases.ts';

const VERSIONS: readonly (readonly [name: string, before: string, after: string])[] = [
  ['commander', '11.0.0', '12.0.0'],
  ['ws', '8.13.0', '8.18.0'],
  ['semver', '7.5.0', '7.6.0'],
  ['yargs-parser', '20.2.9', '21.1.1'],
  ['express', '4.17.1', '4.19.2'],
];

export function fetchPairs(): readonly FilePair[] {
  const folder = mkdtempSync(join(tmpdir(), 'landing-'));
  try {
    return VERSIONS.flatMap(([name, before, after]) => {
      const [old, now] = [unpack(folder, `${name}@${before}`), unpack(folder, `${name}@${after}`)];
      const files = readdirSync(old, { recursive: true, encoding: 'utf8' }).sort();
      return files
        .filter((file) => /\.(?:[cm]?js|ts|md|json)$/.test(file) && existsSync(join(now, file)))
        .map((file) => ({
          name: `${name}/${file}`,
          before: readFileSync(join(old, file), 'utf8'),
          after: readFileSync(join(now, file), 'utf8'),
        }))
        .filter((pair) => pair.before !== pair.after);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function unpack(folder: string, version: string): string {
  const target = join(folder, version.replace(/\W/g, '-'));
  const packed = execFileSync('npm', ['pack', version, '--silent'], { cwd: folder, encoding: 'utf8' }).trim();
  execFileSync('mkdir', ['-p', target]);
  execFileSync('tar', ['-xzf', join(folder, packed), '-C', target]);
  return target;
}
