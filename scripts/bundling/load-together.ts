/**
 * Keeps what is always loaded together in one file. Loading a module costs Node far more than reading its lines, and
 * esbuild, which splits by reachability, makes a chunk for every combination of entries that reach a module.
 *
 * So every entry and every dynamic import of a build goes through a module that first imports the core: then all entries
 * reach all of the core, which is one combination and one chunk. What only some of them reach is still split.
 */
import path from 'node:path';
import type { Metafile, Plugin } from 'esbuild';

const CORE = 'core';
const WITH_CORE = 'with-core';

/** `graph`: of the same build without this plugin. `core`: absolute paths of sources. */
export function loadTogether(root: string, graph: Metafile, core: readonly string[]): Plugin {
  const inCore = closureOf(core, graph, root);
  /** What shares nothing with the core does without it. */
  const needsCore = (file: string): boolean => !closureOf([file], graph, root).isDisjointFrom(inCore);
  return {
    name: 'load-together',
    setup({ onResolve, onLoad, resolve }) {
      onResolve({ filter: /./ }, async ({ path: specifier, namespace, kind, importer, resolveDir, pluginData }) => {
        if (namespace === WITH_CORE && specifier === CORE) return { path: CORE, namespace: CORE, sideEffects: true };
        if (pluginData === loadTogether || (kind !== 'entry-point' && kind !== 'dynamic-import')) return undefined;
        const found = await resolve(specifier, { kind, importer, resolveDir, pluginData: loadTogether });
        if (found.external || found.errors.length > 0 || !needsCore(found.path)) return found;
        return { path: found.path, namespace: WITH_CORE };
      });
      onLoad({ filter: /./, namespace: CORE }, () => ({
        // Not imports alone: where a package has no side effects, those are left out.
        contents: core.map((file) => `export * from ${JSON.stringify(file)};`).join('\n'),
        resolveDir: root,
      }));
      onLoad({ filter: /./, namespace: WITH_CORE }, ({ path: file }) => ({
        contents: `import '${CORE}';\nexport * from ${JSON.stringify(file)};`,
        resolveDir: path.dirname(file),
      }));
    },
  };
}

/** The files that are loaded with these: all they import, but not what they import later. */
function closureOf(files: readonly string[], { inputs }: Metafile, root: string): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (file: string): void => {
    if (found.has(file)) return;
    found.add(file);
    for (const link of inputs[file]?.imports ?? []) {
      if (link.kind === 'import-statement' && !link.external) visit(link.path);
    }
  };
  for (const file of files) {
    const name = path.relative(root, file);
    if (inputs[name] === undefined) throw new Error(`Not part of the build: ${name}`);
    visit(name);
  }
  return found;
}
