/** Builds the packages when what is in dist is missing or older than the sources it comes from. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const PACKAGES = ['protocol', 'sdk', 'host'].map((name) => join(root, 'packages', name));

export function ensureBuilt(): void {
  if (PACKAGES.every(isFresh)) return;
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-b', '--force', ...PACKAGES], { stdio: 'inherit' });
}

function isFresh(folder: string): boolean {
  return globSync('src/**/*.ts', { cwd: folder })
    .filter((name) => !name.endsWith('.test.ts'))
    .every((name) => {
      const output = join(folder, name.replace(/^src/, 'dist').replace(/\.ts$/, '.js'));
      return existsSync(output) && statSync(output).mtimeMs >= statSync(join(folder, name)).mtimeMs;
    });
}
