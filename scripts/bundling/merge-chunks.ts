/**
 * Puts the many small chunks that are always loaded together into one file. Loading a module costs Node far more than
 * reading its lines, and a bundler that splits by reachability makes a chunk for every combination of entries.
 *
 * Works on the output of the first pass: the members of a group are bundled again, every name they export gets the number
 * of its chunk in front, and all other files import it under that name.
 */
import path from 'node:path';
import { type BuildOptions, build, type Metafile, type OutputFile, type Plugin } from 'esbuild';

export interface ChunkGroup {
  /** Name of the merged file under `chunks/`. */
  readonly name: string;
  /** Ends of the sources whose code, with all it imports, is in the group; what an earlier group has is left there. */
  readonly entries: readonly string[];
}

interface Chunks {
  readonly outdir: string;
  readonly texts: ReadonlyMap<string, string>;
  /** From the chunk to the merged file that has it. */
  readonly homes: ReadonlyMap<string, string>;
  readonly exportsOf: (file: string) => readonly string[];
  /** Tells equal names of different chunks apart. */
  readonly numberOf: (file: string) => number;
}

export interface FirstPass {
  readonly root: string;
  readonly outdir: string;
  readonly outputFiles: readonly OutputFile[];
  readonly metafile: Metafile;
}

export async function mergeChunks(
  pass: FirstPass,
  groups: readonly ChunkGroup[],
  options: BuildOptions,
): Promise<OutputFile[]> {
  const { outdir, root } = pass;
  const outputs = new Map(Object.entries(pass.metafile.outputs).map(([file, one]) => [path.join(root, file), one]));
  const files = [...outputs.keys()].filter((file) => file.endsWith('.js'));
  const homes = new Map<string, string>();
  for (const group of groups) {
    const home = path.join(outdir, 'chunks', `${group.name}.js`);
    const free = [...membersOf(group)].filter((file) => path.dirname(file) === path.dirname(home) && !homes.has(file));
    for (const member of free) homes.set(member, home);
  }
  const chunks: Chunks = {
    outdir,
    homes,
    texts: new Map(pass.outputFiles.map((file) => [file.path, file.text])),
    exportsOf: (file) => outputs.get(file)?.exports ?? [],
    numberOf: (file) => files.indexOf(file),
  };
  const merged = [...new Set(homes.values())].map((home) => bundleAgain([home], chunks, options));
  const rest = files.filter((file) => !homes.has(file));
  return (await Promise.all([...merged, bundleAgain(rest, chunks, options)])).flat();

  function membersOf({ entries }: ChunkGroup): ReadonlySet<string> {
    const found = new Set<string>();
    const visit = (file: string): void => {
      const output = outputs.get(file);
      if (output === undefined || found.has(file)) return;
      found.add(file);
      for (const link of output.imports) {
        if (link.kind === 'import-statement') visit(path.join(root, link.path));
      }
    };
    for (const entry of entries) {
      const start = files.find((file) => outputs.get(file)?.entryPoint?.endsWith(entry));
      if (start === undefined) throw new Error(`No entry and no dynamic import: ${entry}`);
      visit(start);
    }
    return found;
  }
}

async function bundleAgain(files: readonly string[], chunks: Chunks, options: BuildOptions): Promise<OutputFile[]> {
  const { outputFiles = [] } = await build({
    ...options,
    entryPoints: [...files],
    outdir: chunks.outdir,
    outbase: chunks.outdir,
    bundle: true,
    splitting: false,
    write: false,
    plugins: [fromFirstPass(chunks)],
  });
  return outputFiles;
}

function fromFirstPass(chunks: Chunks): Plugin {
  const { homes, texts } = chunks;
  return {
    name: 'from-first-pass',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /./ }, ({ path: specifier, importer, kind }) => {
        if (kind === 'entry-point') return { path: specifier };
        if (!specifier.startsWith('.')) return { path: specifier, external: true };
        const file = path.resolve(path.dirname(importer), specifier);
        const home = homes.get(file);
        const isInside = home !== undefined && (importer === home || homes.get(importer) === home);
        return isInside ? { path: file } : { path: specifier, external: true };
      });
      onLoad({ filter: /./ }, ({ path: file }) => {
        const text = texts.get(file);
        return { contents: text === undefined ? homeText(file, chunks) : rewritten(file, text, chunks), loader: 'js' };
      });
    },
  };
}

/** What the merged file exports: all that its chunks do. */
function homeText(home: string, { homes, exportsOf, numberOf }: Chunks): string {
  const members = [...homes].filter(([, one]) => one === home).map(([file]) => file);
  const lines = members.flatMap((file) => {
    const number = numberOf(file);
    const names = exportsOf(file).map((name) => `${name} as c${number}_${name}`);
    const from = JSON.stringify(`./${path.basename(file)}`);
    return [`export { ${names.join(', ')} } from ${from};`, `export * as ns${number} from ${from};`];
  });
  return lines.join('\n');
}

const STATIC = /^import (?:\{([^}]*)\} from )?"(\.[^"]+)";$/gm;
const DYNAMIC = /\bimport\("(\.[^"]+)"\)/g;

/** Chunks of other groups are imported from the files they are merged into. */
function rewritten(file: string, text: string, { homes, numberOf }: Chunks): string {
  const targetOf = (specifier: string) => path.resolve(path.dirname(file), specifier);
  const relative = (home: string) =>
    JSON.stringify(`./${path.relative(path.dirname(file), home)}`.replace('./../', '../'));
  return builtinsByCall(text)
    .replaceAll(STATIC, (line: string, names: string | undefined, specifier: string) => {
      const target = targetOf(specifier);
      const home = homes.get(target);
      if (home === undefined || home === homes.get(file)) return line;
      const renamed = names?.replaceAll(
        /([\w$]+)( as [\w$]+)?/g,
        (_all, name: string, as: string | undefined) => `c${numberOf(target)}_${name}${as ?? ` as ${name}`}`,
      );
      return renamed === undefined ? `import ${relative(home)};` : `import {${renamed}} from ${relative(home)};`;
    })
    .replaceAll(DYNAMIC, (expression: string, specifier: string) => {
      const target = targetOf(specifier);
      const home = homes.get(target);
      return home === undefined ? expression : `import(${relative(home)}).then((m) => m.ns${numberOf(target)})`;
    });
}

const BUILTIN = /^import (?:([\w$]+)|\* as ([\w$]+)|\{([^}]*)\}) from "(node:[\w/]+)";$/gm;

/**
 * An import of Node's own module makes a copy of all its exports, and by that loads what the module itself loads late:
 * `node:fs` its streams and promises, `node:crypto` the web's. Asked for by call, it stays as it is.
 */
function builtinsByCall(text: string): string {
  return text.replaceAll(BUILTIN, (_line, whole?: string, all?: string, names?: string, module?: string) => {
    const target = whole ?? all ?? `{${names?.replaceAll(/([\w$]+) as ([\w$]+)/g, '$1: $2')}}`;
    // By its global name: `process` itself may be what is imported.
    return `var ${target} = globalThis.process.getBuiltinModule("${module}");`;
  });
}
