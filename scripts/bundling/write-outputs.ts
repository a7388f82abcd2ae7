/** Brings `dist` of a package up to date: what has changed is written, and what no bundle has any more is removed. */
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Output } from './bundle.ts';

export function writeOutputs(folder: string, outputs: readonly Output[]): void {
  for (const { path: file, text } of outputs) {
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  // Removed last: a program that runs meanwhile may still load the chunks it knows.
  const current = new Set(outputs.map((output) => output.path));
  for (const name of globSync('dist/**/{*.js,*.js.map,THIRD-PARTY-LICENSES}', { cwd: folder })) {
    if (!current.has(path.join(folder, name))) rmSync(path.join(folder, name));
  }
}
