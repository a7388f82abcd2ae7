/** Crates of the workspace by the name that paths begin with. Reads only what it needs of Cargo.toml. */
import { posix } from 'node:path';
import type { ProjectFiles } from '../../project-files.ts';

export interface RustCrates {
  /** Root file of the library that other crates name like this. */
  libraryOf(name: string): string | undefined;
}

export function createRustCrates(files: ProjectFiles): RustCrates {
  const libraries = new Map<string, string>();
  for (const path of files.list()) {
    if (posix.basename(path) !== 'Cargo.toml') continue;
    const manifest = new TextDecoder().decode(files.read(path) ?? new Uint8Array());
    const name = tomlValue(manifest, 'lib', 'name') ?? tomlValue(manifest, 'package', 'name');
    const root = posix.join(posix.dirname(path), tomlValue(manifest, 'lib', 'path') ?? 'src/lib.rs');
    if (name !== undefined && files.exists(root)) libraries.set(name.replaceAll('-', '_'), root);
  }
  return { libraryOf: (name) => libraries.get(name) };
}

function tomlValue(manifest: string, table: string, key: string): string | undefined {
  const section = new RegExp(`^\\[${table}\\][^\\n]*\\n((?:(?!\\[)[^\\n]*\\n?)*)`, 'm').exec(manifest)?.[1];
  return new RegExp(`^\\s*${key}\\s*=\\s*"([^"\\n]*)"`, 'm').exec(section ?? '')?.[1];
}
