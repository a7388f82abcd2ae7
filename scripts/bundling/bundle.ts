/** What goes into which bundle. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { coreAsScript } from './core-script.ts';
import { defaultsReady } from './default-registry.ts';
import { lateEngine } from './late-engine.ts';
import { lateSchemas } from './late-schemas.ts';
import { licencesOf } from './licences.ts';
import { listTools } from './list-tools.ts';
import { loadTogether } from './load-together.ts';
import { ownModules } from './own-modules.ts';

export interface Output {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
}

/** Files that are started or loaded by their path, in addition to the entries of the manifests. */
const STARTED: Readonly<Record<string, readonly string[]>> = { ast: ['src/index/worker/parse-worker.ts'] };

/** Mounted into sandboxes as one file, so it may have no chunks. */
const ALONE: Readonly<Record<string, readonly string[]>> = { sdk: ['src/platform/sandbox/proxy-relay.ts'] };

/** Loaded at every start and free of state that two copies would divide. */
const INSIDE = ['zod', 'yaml', 'canonicalize'];

/** Find files beside themselves, are native, must be the one copy in a process, or come without their licence. */
const OUTSIDE_COMMAND = [
  '@ast-grep/wasm',
  '@cfworker/json-schema',
  '@opentelemetry/api',
  '@secretlint/*',
  '@tool-runtime/fleet',
  '@tool-runtime/fleet/*',
  '@vscode/ripgrep',
  'koffi',
  'web-tree-sitter',
];

const LICENCES = 'THIRD-PARTY-LICENSES';

const SHARED: BuildOptions = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  conditions: ['tool-runtime-source'],
  sourcemap: 'linked',
  sourcesContent: false,
  chunkNames: 'chunks/[name]-[hash]',
  legalComments: 'none',
  minifySyntax: true,
  minifyWhitespace: true,
  metafile: true,
  write: false,
  logLevel: 'warning',
};

/** What is loaded together is one file. */
const CORES: Readonly<Record<string, readonly string[]>> = {
  sdk: ['src/index.ts'],
  host: ['src/index.ts'],
};

/** What a call without a host loads. */
const COMMAND_CORE = ['host/src/cli/call-here.ts'];

/** In one file with the start of the command, with nothing in it that they do not use: a call that a host makes. */
const AT_START = ['cli/main.ts', 'cli/commands/call.ts', 'cli/call-args.ts', 'cli/call-through-host.ts'];

export async function bundlePackage(folder: string): Promise<Output[]> {
  const name = path.basename(folder);
  const { exports } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;
  const sources = Object.values(exports).flatMap((entry) =>
    typeof entry === 'string' ? [] : [entry['tool-runtime-source']],
  );
  const options = { ...SHARED, outdir: path.join(folder, 'dist'), outbase: path.join(folder, 'src') };
  const place = (file: string): string => path.join(folder, file);
  const together = await run(
    folder,
    {
      ...options,
      entryPoints: [...sources, ...(STARTED[name] ?? [])].map(place),
      splitting: true,
      plugins: [
        // The schemas of the protocol are what other programs use.
        ...(name === 'protocol' ? [] : [lateSchemas]),
        ...[withoutSchemas, ownModules, leaveOutside, listTools, defaultsReady, readSources],
      ],
    },
    CORES[name]?.map(place),
  );
  const alone = await run(folder, { ...options, entryPoints: (ALONE[name] ?? []).map(place), plugins: [ownModules] });
  return [...together, ...alone];
}

/** Twice: its start is small and has its own copies of what it needs; everything else is loaded when it is wanted. */
export async function bundleCommand(folder: string): Promise<Output[]> {
  const options: BuildOptions = { ...SHARED, outdir: path.join(folder, 'dist/command'), external: OUTSIDE_COMMAND };
  const later = new Map<string, string>();
  const main = path.join(folder, 'src/cli/main.ts');
  const start = await run(folder, {
    ...options,
    entryPoints: [main],
    plugins: [loadLater(later), withoutPrograms, ownModules, readSources],
  });
  const rest = await run(
    folder,
    {
      ...options,
      entryPoints: Object.fromEntries(later),
      splitting: true,
      plugins: [lateSchemas, lateEngine, withoutSchemas, ownModules, listTools, defaultsReady, readSources],
    },
    COMMAND_CORE.map((file) => path.join(folder, '..', file)),
    coreAsScript,
  );
  return [...start.filter((output) => !output.path.endsWith(LICENCES)), ...rest];
}

/** Notes what the start imports dynamically and does not contain: the entries of the second bundle, by name. */
function loadLater(later: Map<string, string>): Plugin {
  return {
    name: 'load-later',
    setup({ onResolve, resolve }) {
      onResolve({ filter: /./ }, async ({ path: specifier, kind, importer, resolveDir, pluginData }) => {
        if (kind !== 'dynamic-import' || pluginData === loadLater) return undefined;
        const found = await resolve(specifier, { kind, importer, resolveDir, pluginData: loadLater });
        if (AT_START.some((file) => found.path.endsWith(`/host/src/${file}`))) return found;
        const name = `later/${path
          .relative(path.join(import.meta.dirname, '../../packages'), found.path)
          .replace(/\.ts$/, '')
          .replaceAll('/', '-')}`;
        if (later.has(name) && later.get(name) !== found.path) throw new Error(`Two files of one name: ${name}`);
        later.set(name, found.path);
        return { path: `./${name}.js`, external: true };
      });
    },
  };
}

/** The library can start programs as commands, which ours are not; the module for that takes long to load. */
const withoutPrograms: Plugin = {
  name: 'without-programs',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      /node_modules\/commander\//.test(importer) ? { path: 'none', namespace: 'without-programs' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'without-programs' }, () => ({ contents: 'export default {};' }));
  },
};

/**
 * The index of the protocol has all its schemas, which take long to build. Our sources need few of its values, and take
 * them from the other entry; a name that is missing there fails the build and is loaded where it is used.
 */
const withoutSchemas: Plugin = {
  name: 'without-schemas',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^@tool-runtime\/protocol$/ }, ({ kind, importer, resolveDir }) => {
      if (kind !== 'import-statement' || !/packages\/(?:sdk|ast)\/src\//.test(importer)) return undefined;
      return resolve('@tool-runtime/protocol/internal', { kind, importer, resolveDir });
    });
  },
};

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly 'tool-runtime-source': string }>>;
}

const leaveOutside: Plugin = {
  name: 'leave-outside',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path: specifier, importer }) => {
      if (importer.includes('/node_modules/') || INSIDE.includes(specifier)) return undefined;
      return { path: specifier, external: true };
    });
  },
};

/** Our sources, with what only matters in a bundle. */
const readSources: Plugin = {
  name: 'read-sources',
  setup({ onLoad }) {
    onLoad({ filter: /packages\/\w+\/src\/.*\.ts$/ }, ({ path: file }) => ({
      contents: inAscii(allOfZod(readFileSync(file, 'utf8'))),
      loader: 'ts',
    }));
  },
};

/** `{ z }` is one object of all that zod has, languages of its messages included; from `* as z` only what is used is kept. */
function allOfZod(text: string): string {
  return text.replace("import { z } from 'zod';", "import * as z from 'zod';");
}

/**
 * One character beyond ASCII doubles the memory of the whole file. The bundler escapes such characters, except in regular
 * expressions. In a raw template an escape would mean something else.
 */
function inAscii(text: string): string {
  if (text.includes('String.raw')) return text;
  return text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

async function run(
  folder: string,
  options: BuildOptions,
  core: readonly string[] = [],
  finish?: typeof coreAsScript,
): Promise<Output[]> {
  const root = path.join(folder, '..', '..');
  const outdir = options.outdir ?? folder;
  const given = { ...options, absWorkingDir: root };
  const { metafile: graph } = await build(given);
  if (graph === undefined) throw new Error('No list of what was bundled');
  const plugins = [...(core.length === 0 ? [] : [loadTogether(root, graph, core)]), ...(options.plugins ?? [])];
  const { outputFiles = [], metafile: result = graph } = await build({ ...given, plugins });
  const licences = licencesOf(root, Object.keys(graph.inputs));
  const files = outputFiles.map(({ path: file, text }) => ({ path: file, text }));
  const finished = finish === undefined ? files : await finish(root, files, result, core[0] ?? '');
  return [...finished, ...(licences === '' ? [] : [{ path: path.join(outdir, LICENCES), text: licences }])];
}
