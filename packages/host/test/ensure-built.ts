/** Builds the packages when what is in dist is missing or older than the sources it comes from. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const PACKAGES = ['protocol', 'sdk', 'ast', 'host', 'conformance'].map((name) => join(root, 'packages', name));

export function ensureBuilt(): void {
  if (PACKAGES.every(isFresh)) return;
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-b', ...PACKAGES], { stdio: 'inherit' });
  const bundler = join(root, 'scripts/bundle-packages.ts');
  execFileSync(process.execPath, ['-C', 'tool-runtime-source', bundler], { stdio: 'inherit' });
}

/** Every bundle is written, or at least touched, by each build. */
function isFresh(folder: string): boolean {
  const bundle = join(folder, 'dist/index.js');
  if (!existsSync(bundle)) return false;
  const builtAt = statSync(bundle).mtimeMs;
  return globSync('src/**/*.ts', { cwd: folder })
    .filter((name) => !name.endsWith('.test.ts'))
    .every((name) => statSync(join(folder, name)).mtimeMs <= builtAt);
}
