/** Makes packages available without an installation: as links to where they lie, each with all that it needs there. */
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';

export function linkPackages(folder: string, packages: Iterable<readonly [name: string, source: string]>): void {
  for (const [name, source] of new Map(packages)) {
    const target = path.join(folder, 'node_modules', name);
    mkdirSync(path.dirname(target), { recursive: true });
    symlinkSync(source, target);
  }
}

/** Where a package of the checkout lies. */
export function installedPackage(root: string, name: string): [name: string, source: string] {
  return [name, path.join(root, 'node_modules', name)];
}
