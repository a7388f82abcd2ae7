/** The folder outside every workspace: byte for byte, name for name and time for time what it was. */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Problems } from '../../../packages/host/test/load/problems.ts';

export function checkCanaries(folder: string, asItWas: string, problems: Problems): void {
  const [now, before] = [describe(folder), describe(asItWas)];
  for (const name of new Set([...now.keys(), ...before.keys()])) {
    if (now.get(name) !== before.get(name)) {
      problems.add(`outside the workspace was touched: ${name}: ${before.get(name)} became ${now.get(name)}`);
    }
  }
}

function describe(folder: string): ReadonlyMap<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return new Map(
    names.map((name) => {
      const path = join(folder, name);
      const stat = lstatSync(path);
      const content = stat.isFile() ? `${readFileSync(path, 'latin1')} ${Math.floor(stat.mtimeMs)}` : 'folder';
      return [name, `${stat.mode.toString(8)} ${content}`];
    }),
  );
}
