/** Projects on disk for the comparisons with a language server. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RenameTarget } from '../../src/scope/rename/rename-plan.ts';
import type { ProjectFiles } from '../../src/scope/scope-model.ts';
import type { Engine } from '../../src/symbols/engine.ts';

export const TS_PROJECT = {
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      module: 'preserve',
      target: 'esnext',
      noEmit: true,
      allowJs: true,
      allowImportingTsExtensions: true,
      jsx: 'preserve',
    },
    include: ['.'],
  }),
  'package.json': '{ "type": "module" }',
};

export function write(folder: string, texts: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

export function diskFiles(root: string): ProjectFiles {
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  const known = new Set(paths);
  return {
    exists: (path) => known.has(path),
    read: (path) => (known.has(path) ? readFileSync(join(root, path)) : undefined),
    list: () => paths,
  };
}

/** Exported symbols of the files, spread over all of them. */
export async function exportedIn(
  engine: Engine,
  files: ProjectFiles,
  wanted: RegExp,
  limit: number,
): Promise<RenameTarget[]> {
  const targets: RenameTarget[] = [];
  for (const path of files.list().filter((one) => wanted.test(one) && one.endsWith('.ts'))) {
    const bytes = files.read(path) ?? new Uint8Array();
    const facts = await engine.index({ path, language: 'typescript', bytes });
    for (const { parent, exported, name, nameSpan } of facts.nodes) {
      if (parent === -1 && exported && name !== 'default') targets.push({ path, nameStart: nameSpan.start, name });
    }
  }
  const step = Math.max(1, targets.length / limit);
  return targets.filter((_, n) => Math.floor(n / step) !== Math.floor((n - 1) / step));
}
