/**
 * Layers inside a package: each folder of src may import itself and the folders listed for it, types included.
 *
 * A large folder has rooms, each with a line of its own such as `platform/files`. Files directly in such a folder are
 * open to its rooms, and a line that names the folder alone covers all of its rooms. Files at the root of src (index.ts,
 * runtime.ts and the wiring beside them) and testing/ may import everything; a folder may import them back only where `.`
 * is in its list. Tests may import anything. Lines are in order: each imports only what is above it.
 */

import type { ImportLink } from './find-imports.ts';
import type { Finding } from './finding.ts';
import { bareName, resolveRelative, SCOPE } from './packages.ts';
import type { SourceFile, Tree } from './read-tree.ts';

type Table = Readonly<Record<string, readonly string[]>>;

const PROTOCOL: Table = {
  primitives: [],
  envelopes: ['primitives'],
  http: ['envelopes'],
  client: ['primitives', 'envelopes', 'http'],
};

/** What tools, rules and the call path are made of. */
const LEAVES = ['changes', 'contracts', 'egress', 'git', 'glob', 'policy', 'redaction', 'shell', 'text'];

const SDK: Table = {
  changes: [],
  contracts: ['changes'],
  glob: [],
  text: [],
  findings: [],
  secrets: [],
  'tool-kit': [],
  pattern: ['contracts'],
  redaction: ['contracts'],
  egress: ['contracts', 'redaction'],
  git: ['contracts', 'glob'],
  shell: ['contracts', 'redaction'],
  policy: ['contracts', 'glob', 'text'],
  present: ['contracts', 'findings'],
  coordinator: ['contracts'],
  events: ['contracts'],
  telemetry: ['contracts', 'events'],
  validation: ['contracts', 'git', 'glob', 'policy'],

  platform: ['contracts'],
  'platform/processes': ['contracts', 'text'],
  'platform/network': ['contracts', 'egress'],
  'platform/descriptors': ['contracts'],
  'platform/protection': ['contracts', 'platform/descriptors'],
  'platform/state': ['contracts', 'platform/descriptors', 'platform/processes'],
  'platform/toolchains': ['contracts'],
  'platform/sandbox': [
    'contracts',
    'egress',
    'platform/descriptors',
    'platform/network',
    'platform/processes',
    'platform/state',
    'platform/toolchains',
  ],
  'platform/search': [
    'contracts',
    'glob',
    'platform/descriptors',
    'platform/processes',
    'platform/protection',
    'platform/sandbox',
  ],
  'platform/files': [
    'contracts',
    'platform/descriptors',
    'platform/processes',
    'platform/protection',
    'platform/search',
    'platform/state',
  ],
  'platform/commit': [
    'changes',
    'contracts',
    'platform/descriptors',
    'platform/files',
    'platform/processes',
    'platform/protection',
    'platform/state',
  ],
  'platform/overlay': [
    'changes',
    'contracts',
    'platform/commit',
    'platform/descriptors',
    'platform/files',
    'platform/processes',
    'platform/sandbox',
    'platform/state',
  ],
  'platform/runs': ['contracts', 'platform/descriptors', 'platform/files', 'platform/processes', 'platform/state'],
  'platform/git': [
    'contracts',
    'egress',
    'git',
    'platform/descriptors',
    'platform/files',
    'platform/processes',
    'platform/protection',
    'platform/sandbox',
  ],
  'platform/commands': [
    'changes',
    'contracts',
    'shell',
    'platform/git',
    'platform/overlay',
    'platform/processes',
    'platform/sandbox',
    'platform/toolchains',
  ],

  journal: ['contracts', 'platform', 'redaction'],
  package: ['contracts', 'platform', 'text'],

  'external/protocol': ['contracts', 'platform', 'shell'],
  'external/lock': ['contracts', 'platform', 'external/protocol'],
  'external/result': ['contracts', 'platform', 'external/protocol'],
  'external/run': [
    'contracts',
    'pattern',
    'platform',
    'redaction',
    'external/lock',
    'external/protocol',
    'external/result',
  ],
  'external/inspect': ['contracts', 'platform', 'redaction', 'external/protocol', 'external/result', 'external/run'],
  'external/check-tool': ['contracts', 'platform', 'external/protocol', 'external/result', 'external/run'],
  external: ['contracts', 'platform', 'external/lock', 'external/protocol', 'external/run'],
  registry: ['contracts', 'egress', 'external', 'glob', 'pattern', 'platform', 'policy', 'text'],

  'call/state': [
    'changes',
    'contracts',
    'coordinator',
    'events',
    'git',
    'journal',
    'package',
    'platform',
    'policy',
    'redaction',
  ],
  'call/tool-context': [
    'changes',
    'contracts',
    'git',
    'package',
    'platform',
    'policy',
    'redaction',
    'text',
    'validation',
    'call/state',
  ],
  call: [
    'changes',
    'contracts',
    'git',
    'journal',
    'package',
    'policy',
    'redaction',
    'shell',
    'text',
    'validation',
    'call/state',
    'call/tool-context',
  ],
  session: [
    'call',
    'changes',
    'contracts',
    'coordinator',
    'events',
    'journal',
    'package',
    'platform',
    'policy',
    'present',
    'redaction',
    'text',
  ],
  tools: [...LEAVES, 'pattern', 'platform', 'present'],
  rules: [...LEAVES, 'findings', 'secrets'],
};

const AST: Table = {
  contracts: [],
  grammar: ['contracts'],
  lsp: [],
  profile: ['contracts'],
  analyze: ['contracts'],
  parse: ['grammar', 'profile'],
  symbols: ['contracts', 'grammar', 'parse', 'profile'],
  rewrite: ['grammar', 'parse', 'symbols'],
  scope: ['parse', 'profile', 'symbols'],
  index: ['contracts', 'grammar', 'parse', 'profile', 'symbols'],
  inspect: ['contracts', 'index', 'parse', 'profile', 'scope', 'symbols'],
  edit: ['contracts', 'lsp', 'parse', 'profile', 'rewrite', 'scope', 'symbols'],
  programs: ['edit', 'profile'],
  plugin: ['contracts', 'edit', 'grammar', 'index', 'inspect', 'lsp', 'profile', 'programs', 'symbols'],
  rules: ['contracts', 'index', 'inspect', 'parse', 'plugin', 'profile', 'scope', 'symbols'],
  tools: [
    'analyze',
    'contracts',
    'edit',
    'inspect',
    'lsp',
    'parse',
    'plugin',
    'profile',
    'programs',
    'rewrite',
    'rules',
    'scope',
  ],
};

const HOST: Table = {
  terminal: [],
  ops: [],
  coordinator: [],
  log: ['terminal'],
  auth: ['log', 'ops'],
  sessions: ['auth', 'log'],
  dispatch: ['sessions'],
  http: ['auth', 'dispatch', 'sessions'],
  transports: ['auth', 'dispatch', 'http', 'sessions'],
  mcp: ['auth', 'http', 'log', 'ops', 'sessions', 'terminal', 'transports'],
  describe: ['http'],
  cli: ['.', 'auth', 'coordinator', 'log', 'mcp', 'ops', 'sessions', 'terminal', 'transports'],
};

const PACKAGES: Readonly<Record<string, Table>> = { protocol: PROTOCOL, sdk: SDK, ast: AST, host: HOST, adapters: {} };

export function checkLayers(tree: Tree): Finding[] {
  return [...Object.entries(PACKAGES).flatMap(([name, table]) => checkOrder(name, table)), ...checkImports(tree)];
}

/** Each line may name only lines above it, so no table can allow a cycle between folders. */
export function checkOrder(name: string, table: Table): Finding[] {
  const lines = Object.keys(table);
  return lines.flatMap((layer, at) =>
    (table[layer] ?? [])
      .filter((other) => other !== '.' && !isAbove(other, { layer, above: lines.slice(0, at), lines }))
      .map((other) => ({
        level: 'fail',
        check: 'layers',
        file: 'scripts/structure/layers.ts',
        what: `${name}: ${layer} names ${other}, which is not above it`,
        next: 'Put the lines in order; when that is impossible, folders import each other: move the code',
      })),
  );
}

interface Order {
  readonly layer: string;
  readonly above: readonly string[];
  readonly lines: readonly string[];
}

/** A folder named alone means all of its rooms. */
function isAbove(other: string, { layer, above, lines }: Order): boolean {
  const rooms = lines.filter((line) => line === other || (folderOf(layer) !== other && folderOf(line) === other));
  return rooms.length > 0 && rooms.every((room) => above.includes(room));
}

function checkImports(tree: Tree): Finding[] {
  return Object.entries(PACKAGES).flatMap(([name, table]) => {
    const root = `packages/${name}/src/`;
    const sources = tree.sources.filter((file) => file.path.startsWith(root) && !file.isTest);
    return sources.flatMap((file) => judgeFile(file, { root, table }));
  });
}

interface Layers {
  readonly root: string;
  readonly table: Table;
}

/** `.` for files at the root of src. */
function layerOf(file: string, { root, table }: Layers): string {
  const [folder = '', ...rest] = file.slice(root.length).split('/');
  if (rest.length === 0) return '.';
  const room = `${folder}/${rest[0]}`;
  return room in table ? room : folder;
}

function folderOf(layer: string): string {
  return layer.split('/')[0] ?? layer;
}

function mayImport(layer: string, other: string, allowed: readonly string[]): boolean {
  if (other === layer || allowed.includes(other)) return true;
  const folder = folderOf(other);
  return folder === folderOf(layer) ? other === folder && layer !== folder : allowed.includes(folder);
}

function judgeFile(file: SourceFile, layers: Layers): Finding[] {
  const layer = layerOf(file.path, layers);
  if (layer === '.' || layer === 'testing') return [];
  const allowed = layers.table[layer];
  if (allowed === undefined) {
    return [
      finding(file, undefined, {
        what: `Folder without a layer: ${layer}`,
        next: 'Give it a line in scripts/structure/layers.ts',
      }),
    ];
  }
  return file.imports.flatMap((link) => {
    const problem = link.specifier.startsWith('.')
      ? judgeRelative(layer, allowed, { layers, target: resolveRelative(file.path, link.specifier) })
      : layers.table === SDK
        ? judgeForeign(layer, link)
        : undefined;
    return problem === undefined ? [] : [finding(file, link, problem)];
  });
}

interface Problem {
  readonly what: string;
  readonly next: string;
}

function judgeRelative(
  layer: string,
  allowed: readonly string[],
  { layers, target }: { readonly layers: Layers; readonly target: string },
): Problem | undefined {
  const { root } = layers;
  if (!target.startsWith(root)) return undefined;
  const other = layerOf(target, layers);
  if (mayImport(layer, other, allowed)) return undefined;
  const list = allowed.length === 0 ? 'itself alone' : `itself, ${allowed.join(', ')}`;
  const name = other === '.' ? target.slice(root.length) : other;
  return { what: `${layer} imports ${name}`, next: `${layer} may import ${list}: take it as a port or move the code` };
}

function judgeForeign(layer: string, link: ImportLink): Problem | undefined {
  if (layer === 'tool-kit' && !link.specifier.startsWith('node:')) {
    return {
      what: `tool-kit imports ${link.specifier}`,
      next: 'tool-kit is copied into other programs: itself and Node, no more',
    };
  }
  if (layer !== 'contracts' || bareName(link.specifier) === `${SCOPE}protocol`) return undefined;
  if (bareName(link.specifier) === 'zod' && link.kind === 'type') return undefined;
  return {
    what: `contracts imports ${link.specifier}`,
    next: 'contracts knows protocol and the types of zod, no more',
  };
}

function finding(file: SourceFile, link: ImportLink | undefined, problem: Problem): Finding {
  const line = link === undefined ? {} : { line: file.lineAt(link.offset) };
  return { level: 'fail', check: 'layers', file: file.path, ...line, ...problem };
}
