/**
 * The core of the command as a script instead of a module. Most of what a short command does is compile functions at
 * their first call. Node's compile cache is written before anything runs, so it has none of them. V8 can write a cache
 * of a script after it ran, with all functions it compiled, but offers that for scripts only.
 *
 * The chunk keeps its name and its exports: it is now a module that runs the script and exports what it defines.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Metafile, transform } from 'esbuild';
import type { Output } from './bundle.ts';

/** The map of what no source contains. */
const NO_SOURCES = '{"version":3,"sources":[],"names":[],"mappings":""}\n';
/** Chunks, and packages that are loaded late, such as the one with ripgrep. A script cannot import by itself. */
const LATER = /\bimport\((?:"([^"]+)"\)|(?=`))/g;

/** `has`: a source that only the core contains. */
export async function coreAsScript(
  root: string,
  outputs: readonly Output[],
  graph: Metafile,
  has: string,
): Promise<Output[]> {
  const [name, chunk] =
    Object.entries(graph.outputs).find(([, { inputs }]) => path.relative(root, has) in inputs) ?? [];
  const module = outputs.find(({ path: file }) => file === path.join(root, name ?? ''));
  const map = outputs.find(({ path: file }) => file === `${module?.path}.map`);
  if (chunk === undefined || module === undefined || map === undefined) throw new Error(`No chunk has ${has}`);
  for (const input of Object.keys(chunk.inputs)) refuseState(root, input);

  const helpers = chunk.imports.filter(({ kind, external }) => kind === 'import-statement' && external !== true);
  const later = chunk.imports.filter(({ kind, external }) => kind === 'dynamic-import' && external !== true);
  const file = module.path.replace(/chunk-(\w+)\.js$/, 'core-$1.cjs');
  const inline = `//# sourceMappingURL=data:application/json;base64,${Buffer.from(map.text).toString('base64')}`;
  const { code, map: mapped } = await transform(module.text.replace(/\/\/# sourceMappingURL=.*\s*$/, inline), {
    format: 'cjs',
    platform: 'node',
    target: 'node22',
    sourcefile: path.basename(module.path),
    sourcemap: 'external',
    sourcesContent: false,
    legalComments: 'none',
    minifyWhitespace: true,
    define: { 'import.meta': 'core_meta' },
    // A function, as the value of a script and as what CommonJS exports.
    banner: '(typeof module=="object"?module:{}).exports=(function(module,require,core_meta,core_import){',
    footer: '})',
  });
  const found = new Set<string>();
  const script = code.replaceAll(LATER, (text: string, specifier?: string) => {
    if (specifier?.startsWith('.')) found.add(path.posix.join(path.dirname(name ?? ''), specifier));
    return `core_${text}`;
  });
  const differ = found.symmetricDifference(new Set(later.map(({ path: one }) => one)));
  if (differ.size > 0) throw new Error(`Dynamic imports of the core were not all found: ${[...differ].join(', ')}`);
  const [left] = /\bimport\(.{0,40}/.exec(script) ?? [];
  if (left !== undefined) throw new Error(`The core has an import that a script cannot make: ${left}`);
  const others = outputs.filter((output) => output !== module && output !== map);
  return [
    ...others,
    { path: module.path, text: facade(path.basename(file), helpers, chunk.exports) },
    { path: map.path, text: NO_SOURCES },
    { path: file, text: `${script.trimEnd()}\n//# sourceMappingURL=${path.basename(file)}.map\n` },
    { path: `${file}.map`, text: mapped },
  ];
}

/** The exports are read once, so a variable that changes later would be seen with its first value. */
function refuseState(root: string, input: string): void {
  if (input.includes(':') || input.includes('node_modules/')) return;
  if (/^export let /m.test(readFileSync(path.join(root, input), 'utf8'))) {
    throw new Error(`The core cannot export a variable that changes: ${input}`);
  }
}

function facade(script: string, imports: readonly { readonly path: string }[], names: readonly string[]): string {
  const helpers = imports.map(({ path: file }, at) => ({ file: `./${path.basename(file)}`, name: `helper${at}` }));
  return [
    ...helpers.map(({ file, name }) => `import * as ${name} from ${JSON.stringify(file)};`),
    `const helpers = { ${helpers.map(({ file, name }) => `${JSON.stringify(file)}: ${name}`).join(', ')} };`,
    `const file = import.meta.dirname + ${JSON.stringify(`/${script}`)};`,
    RUN,
    ...names.map((name, at) => `const own${at} = module.exports.${name};`),
    `export { ${names.map((name, at) => `own${at} as ${name}`).join(', ')} };\n`,
  ].join('\n');
}

/**
 * The cache is beside Node's own, in a folder for this version of Node and this user. There is one per command, because
 * each compiles other functions: written when the command ends, or by a server once it has started, because its client may
 * kill it. A cache that is damaged, or of other code or another V8, is not used, and the script then runs without one
 * and writes a new one.
 */
const RUN = `
const fs = process.getBuiltinModule('node:fs');
const { hash } = process.getBuiltinModule('node:crypto');
const { Script } = process.getBuiltinModule('node:vm');
const DIGEST_BYTES = 32;
const folder = process.getBuiltinModule('node:module').getCompileCacheDir?.();
const command = /^[a-z]{1,20}$/.exec(process.argv[2] ?? '')?.[0] ?? 'other';
const isServer = ['mcp', 'serve', 'stdio'].includes(command);
const prefix = 'tool-runtime-' + command + '-';
const place = folder === undefined ? undefined : folder + '/' + prefix + file.slice(file.lastIndexOf('/') + 1);

/** What others could have written is code that would run here. V8 does not check the bytes, and dies of damaged ones. */
function readCache() {
  if (place === undefined) return undefined;
  let opened;
  try {
    opened = fs.openSync(place, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    const { uid, mode, size } = fs.fstatSync(opened);
    if (uid !== process.geteuid() || (mode & 0o022) !== 0) return undefined;
    const bytes = Buffer.allocUnsafeSlow(size);
    if (fs.readSync(opened, bytes, 0, size, 0) !== size) return undefined;
    const data = bytes.subarray(DIGEST_BYTES);
    return bytes.compare(hash('sha256', data, 'buffer'), 0, DIGEST_BYTES, 0, DIGEST_BYTES) === 0 ? data : undefined;
  } catch {
    return undefined;
  } finally {
    if (opened !== undefined) fs.closeSync(opened);
  }
}

function writeCache() {
  process.removeListener('exit', writeCache);
  const temporary = place + '.' + process.pid;
  try {
    const opened = fs.openSync(temporary, 'wx', 0o600);
    const data = script.createCachedData();
    fs.writeFileSync(opened, Buffer.concat([hash('sha256', data, 'buffer'), data]));
    fs.fsyncSync(opened);
    fs.closeSync(opened);
    fs.renameSync(temporary, place);
    for (const name of fs.readdirSync(folder)) {
      if (name.startsWith(prefix) && folder + '/' + name !== place) fs.unlinkSync(folder + '/' + name);
    }
  } catch {
    // A full or read-only disk, or another process that writes the same: the next start tries again.
  }
}

function openCore() {
  // Node maps the lines of modules only.
  if (process.sourceMapsEnabled) return process.getBuiltinModule('node:module').createRequire(import.meta.url)(file);
  const cachedData = readCache();
  script = new Script(fs.readFileSync(file, 'latin1'), {
    filename: file,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  if (place !== undefined && (cachedData === undefined || script.cachedDataRejected)) {
    process.once('exit', writeCache);
    setTimeout(writeCache, isServer ? 1000 : 5000).unref();
  }
  return script.runInThisContext();
}

let script;
const module = { exports: {} };
openCore()(module, (name) => helpers[name], import.meta, (name) => import(name));
`;
