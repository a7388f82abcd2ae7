/** Packs with npm itself, because only npm knows what npm publishes, and unpacks again to look inside. */
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { mustRun } from './run-program.ts';

export interface PackageManifest {
  readonly name: string;
  readonly version: string;
  /** Code by condition; a file that is only read is named alone. */
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export interface Tarball {
  readonly manifest: PackageManifest;
  /** The .tgz itself. */
  readonly file: string;
  readonly packedBytes: number;
  /** Where it is unpacked. */
  readonly folder: string;
  /** Names below `folder`, sorted. */
  readonly files: readonly string[];
  readonly unpackedBytes: number;
}

export async function packPackages(root: string, names: readonly string[], place: string): Promise<Tarball[]> {
  const chosen = names.flatMap((name) => ['-w', `packages/${name}`]);
  const options = ['--ignore-scripts', '--silent', '--pack-destination', place];
  await mustRun('npm', ['pack', ...options, ...chosen], { cwd: root });
  return Promise.all(names.map((name) => unpack(path.join(root, 'packages', name), place)));
}

async function unpack(source: string, place: string): Promise<Tarball> {
  const { name, version } = readManifest(source);
  const file = path.join(place, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
  const target = path.join(place, 'unpacked', name);
  mkdirSync(target, { recursive: true });
  await mustRun('tar', ['-xzf', file, '-C', target, '--strip-components=1'], { cwd: place });
  return describeTarball(file, target);
}

export function describeTarball(file: string, folder: string): Tarball {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  const files = entries.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name))).sort();
  return {
    manifest: readManifest(folder),
    file,
    packedBytes: statSync(file).size,
    folder,
    files,
    unpackedBytes: files.reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0),
  };
}

/** `@scope/name` and `@scope/name/sub`, as a program imports them. */
export function entriesOf({ name, exports = {} }: PackageManifest): string[] {
  return Object.entries(exports).flatMap(([key, to]) => (typeof to === 'string' ? [] : [path.posix.join(name, key)]));
}

function readManifest(folder: string): PackageManifest {
  return JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as PackageManifest;
}
