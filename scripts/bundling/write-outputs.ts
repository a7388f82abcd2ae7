/** Brings `dist` of a package up to date: what has changed is written, and what no bundle has any more is removed. */
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Output } from './bundle.ts';

export function writeOutputs(folder: string, outputs: readonly Output[]): void {
  const now = new Date();
  for (const { path: file, text } of outputs) {
    // Its time says that it is up to date; its bytes stay, for programs that read it just now.
    if (existsSync(file) && readFileSync(file, 'utf8') === text) utimesSync(file, now, now);
    else {
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
  // Removed last: a program that runs meanwhile may still load the chunks it knows.
  const current = new Set(outputs.map((output) => output.path));
  for (const name of globSync('dist/**/{*.js,*.cjs,*.js.map,*.cjs.map,*.css,*.html,*.svg,THIRD-PARTY-LICENSES}', {
    cwd: folder,
  })) {
    if (!current.has(path.join(folder, name))) rmSync(path.join(folder, name));
  }
}
