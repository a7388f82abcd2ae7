/** Declarations, as they are packed: builds what is missing or old, and removes what has no source. */
import { existsSync, globSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { mustRun } from './run-program.ts';

export async function buildDeclarations(root: string, names: readonly string[]): Promise<void> {
  const folders = names.map((name) => path.join(root, 'packages', name));
  for (const folder of folders) removeOrphans(folder);
  if (folders.every(isFresh)) return;
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
  // Forced: the compiler remembers what it has written and does not look whether that is still there.
  await mustRun(process.execPath, [compiler, '-b', '--force', ...folders], { cwd: root });
}

/** Left behind by sources that were moved or deleted; nothing imports them, but they would be published. */
function removeOrphans(folder: string): void {
  for (const name of globSync('dist/**/*.d.ts{,.map}', { cwd: folder })) {
    const source = name.replace(/^dist/, 'src').replace(/\.d\.ts(?:\.map)?$/, '.ts');
    if (!existsSync(path.join(folder, source))) rmSync(path.join(folder, name));
  }
}

function isFresh(folder: string): boolean {
  return globSync('src/**/*.ts', { cwd: folder })
    .filter((name) => !name.endsWith('.test.ts'))
    .every((name) => {
      const output = path.join(folder, name.replace(/^src/, 'dist').replace(/\.ts$/, '.d.ts'));
      return existsSync(output) && statSync(output).mtimeMs >= statSync(path.join(folder, name)).mtimeMs;
    });
}
