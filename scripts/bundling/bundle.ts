/** What goes into which bundle. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type BuildOptions, build, type OutputFile, type Plugin } from 'esbuild';
import { licencesOf } from './licences.ts';
import { listTools } from './list-tools.ts';
import { type ChunkGroup, mergeChunks } from './merge-chunks.ts';

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
  sourcemap: 'inline',
  sourcesContent: false,
  chunkNames: 'chunks/[name]-[hash]',
  legalComments: 'none',
  metafile: true,
  write: false,
  logLevel: 'warning',
};

/** Of the second pass, which starts from what the first has written. */
const FINAL: BuildOptions = {
  format: 'esm',
  platform: 'node',
  target: 'node22',
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'none',
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: 'warning',
};

/** What is loaded together is one file. */
const GROUPS: Readonly<Record<string, readonly ChunkGroup[]>> = {
  sdk: [{ name: 'core', entries: ['sdk/src/index.ts'] }],
  host: [{ name: 'core', entries: ['host/src/index.ts'] }],
};

/** What a call without a host loads. */
const CALL: ChunkGroup = {
  name: 'call',
  entries: [
    'host/src/cli/open-runtime.ts',
    'host/src/cli/progress-line.ts',
    'host/src/sessions/typed-words.ts',
    'sdk/src/index.ts',
    'ast/src/index.ts',
  ],
};

/** What an MCP server has loaded when it answers its first request. */
const MCP: ChunkGroup = {
  name: 'mcp',
  entries: ['host/src/cli/commands/mcp.ts', 'host/src/mcp/server/serve-stdio.ts'],
};

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
      plugins: [leaveOutside, listTools, importAllOfZod],
    },
    GROUPS[name],
  );
  const alone = await run(folder, { ...options, entryPoints: (ALONE[name] ?? []).map(place) });
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
    plugins: [loadLater(later), withoutPrograms, importAllOfZod],
  });
  const rest = await run(
    folder,
    { ...options, entryPoints: Object.fromEntries(later), splitting: true, plugins: [listTools, importAllOfZod] },
    [CALL, MCP],
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

/** `{ z }` is one object of all that zod has, languages of its messages included; from `* as z` only what is used is kept. */
const importAllOfZod: Plugin = {
  name: 'import-all-of-zod',
  setup({ onLoad }) {
    onLoad({ filter: /packages\/\w+\/src\/.*\.ts$/ }, ({ path: file }) => ({
      contents: readFileSync(file, 'utf8').replace("import { z } from 'zod';", "import * as z from 'zod';"),
      loader: 'ts',
    }));
  },
};

async function run(folder: string, options: BuildOptions, groups: readonly ChunkGroup[] = []): Promise<Output[]> {
  const root = path.join(folder, '..', '..');
  const outdir = options.outdir ?? folder;
  const { outputFiles = [], metafile } = await build({ ...options, absWorkingDir: root });
  if (metafile === undefined) throw new Error('No list of what was bundled');
  const files = await mergeChunks({ root, outdir, outputFiles, metafile }, groups, FINAL);
  const licences = licencesOf(root, Object.keys(metafile.inputs));
  return [...withRequire(files), ...(licences === '' ? [] : [{ path: path.join(outdir, LICENCES), text: licences }])];
}

const REQUIRE = "import{createRequire as $cr}from'node:module';const require=$cr(import.meta.url);\n";

/** CommonJS inside a bundle asks for Node's own modules with `require`, which an ES module has to make first. */
function withRequire(files: readonly OutputFile[]): Output[] {
  const texts = new Map(files.map((file) => [file.path, file.text]));
  for (const [file, text] of texts) {
    if (!/\b__require ?= ?/.test(text)) continue;
    texts.set(file, REQUIRE + text);
    const map = JSON.parse(texts.get(`${file}.map`) ?? '{}') as { readonly mappings: string };
    texts.set(`${file}.map`, `${JSON.stringify({ ...map, mappings: `;${map.mappings}` })}\n`);
  }
  return [...texts].map(([file, text]) => ({ path: file, text }));
}
