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

const COMMAND_GROUPS: readonly ChunkGroup[] = [
  { name: 'start', entries: ['host/src/cli/main.ts'] },
  {
    name: 'call',
    entries: ['host/src/cli/commands/call.ts', 'sdk/src/index.ts'],
  },
];

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

export async function bundleCommand(folder: string): Promise<Output[]> {
  const options: BuildOptions = {
    ...SHARED,
    entryPoints: [path.join(folder, 'src/cli/main.ts')],
    outdir: path.join(folder, 'dist/command'),
    splitting: true,
    external: OUTSIDE_COMMAND,
    plugins: [listTools, importAllOfZod],
  };
  return run(folder, options, COMMAND_GROUPS);
}

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
  return [
    ...withRequire(files),
    ...(licences === '' ? [] : [{ path: path.join(outdir, 'THIRD-PARTY-LICENSES'), text: licences }]),
  ];
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
