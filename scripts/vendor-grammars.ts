/**
 * Copies the grammar .wasm files out of the development packages into packages/ast/grammars, compressed and locked.
 *
 * `node scripts/vendor-grammars.ts` writes; with `--check` nothing is written, and the run fails when a vendored file
 * differs from the installed package. The packages themselves weigh hundreds of megabytes, so users get only the copies.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { Language, Parser } from 'web-tree-sitter';

interface GrammarSource {
  readonly package: string;
  readonly file: string;
}

interface LockEntry {
  readonly sha256: string;
  readonly bytes: number;
  readonly abi: number;
  readonly package: string;
  readonly version: string;
  readonly file: string;
  readonly license: string;
}

const ROOT = path.join(import.meta.dirname, '..');
const TARGET = path.join(ROOT, 'packages/ast/grammars');

const official = (name: string, file = name): GrammarSource => ({
  package: `tree-sitter-${name}`,
  file: `tree-sitter-${file}.wasm`,
});

/** Grammar name → where its .wasm comes from. */
const SOURCES: Readonly<Record<string, GrammarSource>> = {
  bash: official('bash'),
  c: official('c'),
  'c-sharp': official('c-sharp', 'c_sharp'),
  cpp: official('cpp'),
  css: official('css'),
  go: official('go'),
  html: official('html'),
  java: official('java'),
  javascript: official('javascript'),
  json: official('json'),
  kotlin: { package: '@tree-sitter-grammars/tree-sitter-kotlin', file: 'tree-sitter-kotlin.wasm' },
  php: official('php'),
  python: official('python'),
  ruby: official('ruby'),
  rust: official('rust'),
  swift: { package: '@repomix/tree-sitter-wasms', file: 'out/tree-sitter-swift.wasm' },
  tsx: official('typescript', 'tsx'),
  typescript: official('typescript'),
  yaml: { package: '@tree-sitter-grammars/tree-sitter-yaml', file: 'tree-sitter-yaml.wasm' },
};

interface GrammarRepair {
  readonly why: string;
  /** Bytes in hex, of the same length; the first must occur exactly once. */
  readonly from: string;
  readonly to: string;
}

/** Faults in the packages that no version on npm has without, repaired in the copy. */
const REPAIRS: Readonly<Record<string, GrammarRepair>> = {
  swift: {
    why: 'its scanner asks calloc for 0 elements and so starts every parse but the first with the rubbish of the last',
    from: '0c00410041041080808080000b',
    to: '0c00410141041080808080000b',
  },
};

/** The bundle of the Swift grammar carries only its own licence; the grammar inside it has another. */
const INNER_NOTICES: Readonly<Record<string, { readonly title: string; readonly copyright: string }>> = {
  '@repomix/tree-sitter-wasms': { title: 'tree-sitter-swift 0.7.1 (MIT)', copyright: 'Copyright (c) 2021 alex-pinkus' },
};

function installed(source: GrammarSource, file: string): string {
  return path.join(ROOT, 'node_modules', source.package, file);
}

function readWasm(name: string, source: GrammarSource): Buffer {
  const wasm = readFileSync(installed(source, source.file));
  const repair = REPAIRS[name];
  if (repair === undefined) return wasm;
  const from = Buffer.from(repair.from, 'hex');
  const at = wasm.indexOf(from);
  if (at === -1 || wasm.indexOf(from, at + 1) !== -1) throw new TypeError(`Repair does not fit the grammar: ${name}`);
  Buffer.from(repair.to, 'hex').copy(wasm, at);
  return wasm;
}

async function lockEntry(source: GrammarSource, wasm: Buffer): Promise<LockEntry> {
  const manifest = JSON.parse(readFileSync(installed(source, 'package.json'), 'utf8')) as Record<string, string>;
  const language = await Language.load(wasm);
  return {
    sha256: createHash('sha256').update(wasm).digest('hex'),
    bytes: wasm.length,
    abi: language.abiVersion,
    package: source.package,
    version: manifest['version'] ?? '',
    file: source.file,
    license: manifest['license'] ?? '',
  };
}

function notices(lock: Readonly<Record<string, LockEntry>>): string {
  const packages = [...new Map(Object.values(lock).map((entry) => [entry.package, entry])).values()];
  const parts = packages.map((entry) => {
    const text = readFileSync(installed(entry, 'LICENSE'), 'utf8').trim();
    return `## ${entry.package} ${entry.version} (${entry.license})\n\n${text}\n${innerNotice(entry.package)}`;
  });
  const repaired = Object.entries(REPAIRS).map(([name, { why }]) => `The grammar ${name} was changed: ${why}.\n`);
  return `# Licences of the vendored grammars\n\nWritten by scripts/vendor-grammars.ts.\n\n${repaired.join('')}\n${parts.join('\n')}`;
}

function innerNotice(packageName: string): string {
  const inner = INNER_NOTICES[packageName];
  if (inner === undefined) return '';
  const mit = readFileSync(installed(official('javascript'), 'LICENSE'), 'utf8').trim();
  return `\n## ${inner.title}\n\n${mit.replace(/^Copyright .*$/m, inner.copyright)}\n`;
}

function compress(wasm: Buffer): Buffer {
  return brotliCompressSync(wasm, {
    params: { [constants.BROTLI_PARAM_SIZE_HINT]: wasm.length, [constants.BROTLI_PARAM_LGWIN]: 24 },
  });
}

function read(file: string): Buffer {
  try {
    return readFileSync(path.join(TARGET, file));
  } catch {
    // Absent is one way of being different, and the comparison reports it by name.
    return Buffer.alloc(0);
  }
}

/** Names of the vendored files that are not what the installed packages give. */
function differences(wasms: ReadonlyMap<string, Buffer>, texts: ReadonlyMap<string, string>): string[] {
  const grammars = [...wasms].filter(([name, wasm]) => {
    const vendored = read(`${name}.wasm.br`);
    return vendored.length === 0 || !brotliDecompressSync(vendored).equals(wasm);
  });
  const others = [...texts].filter(([file, text]) => read(file).toString('utf8') !== text);
  return [...grammars.map(([name]) => `${name}.wasm.br`), ...others.map(([file]) => file)];
}

async function vendorGrammars(options: { readonly check: boolean }): Promise<void> {
  await Parser.init();
  const wasms = new Map<string, Buffer>();
  const lock: Record<string, LockEntry> = {};
  for (const [name, source] of Object.entries(SOURCES)) {
    const wasm = readWasm(name, source);
    wasms.set(name, wasm);
    lock[name] = await lockEntry(source, wasm);
  }
  const texts = new Map([
    ['lock.json', `${JSON.stringify(lock, null, 2)}\n`],
    ['LICENSES.md', notices(lock)],
  ]);
  const different = differences(wasms, texts);
  if (options.check) {
    for (const file of different)
      console.error(`Vendored file differs from its package: packages/ast/grammars/${file}`);
    if (different.length > 0) process.exitCode = 1;
    return;
  }
  for (const file of different) {
    const wasm = wasms.get(file.replace(/\.wasm\.br$/, ''));
    writeFileSync(path.join(TARGET, file), wasm === undefined ? (texts.get(file) ?? '') : compress(wasm));
    console.log(`wrote packages/ast/grammars/${file}`);
  }
}

if (import.meta.main) await vendorGrammars({ check: process.argv.includes('--check') });
