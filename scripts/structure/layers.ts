/**
 * Layers inside a package: each folder of src may import itself and the folders listed for it, types included.
 *
 * Files at the root of src (index.ts, runtime.ts and the wiring beside them) and testing/ may import everything; a folder
 * may import them back only where `.` is in its list. Tests are free.
 */

import type { ImportLink } from './find-imports.ts';
import type { Finding } from './finding.ts';
import { bareName, resolveRelative, SCOPE } from './packages.ts';
import type { SourceFile, Tree } from './read-tree.ts';

const PORTS = ['contracts', 'platform', 'journal', 'redaction'];
const CALL = [
  'contracts',
  'egress',
  'glob',
  'shell',
  'policy',
  'coordinator',
  'journal',
  'redaction',
  'events',
  'platform',
  'package',
  'git',
  'validation',
];

type Table = Readonly<Record<string, readonly string[]>>;

const SDK: Table = {
  contracts: [],
  egress: ['contracts', 'redaction'],
  glob: ['contracts'],
  git: ['contracts', 'glob'],
  secrets: ['contracts'],
  redaction: ['contracts'],
  findings: ['contracts'],
  pattern: ['contracts'],
  text: ['contracts'],
  shell: ['contracts', 'redaction'],
  platform: ['contracts', 'egress', 'git', 'glob', 'shell'],
  policy: ['contracts', 'glob', 'text'],
  coordinator: ['contracts'],
  validation: ['contracts', 'git', 'glob', 'policy'],
  registry: ['contracts', 'egress', 'external', 'glob', 'pattern', 'policy', 'platform', 'text'],
  package: ['contracts', 'platform', 'text'],
  external: ['contracts', 'platform', 'journal', 'redaction', 'text', 'shell', 'pattern', 'policy', 'glob', 'egress'],
  journal: PORTS,
  locks: PORTS,
  events: PORTS,
  telemetry: ['contracts', 'events'],
  'tool-kit': [],
  stores: PORTS,
  call: CALL,
  session: [...CALL, 'call', 'text'],
  tools: ['contracts', 'egress', 'git', 'glob', 'pattern', 'shell', 'text', 'platform'],
  rules: ['contracts', 'egress', 'findings', 'git', 'glob', 'secrets', 'shell', 'text', 'platform', 'policy'],
};

/** From the bottom up. */
const HOST: Table = {
  terminal: [],
  ops: [],
  coordinator: [],
  log: ['terminal'],
  auth: ['log', 'ops'],
  telemetry: ['auth'],
  sessions: ['auth', 'log'],
  dispatch: ['sessions'],
  http: ['auth', 'dispatch', 'sessions', 'telemetry'],
  transports: ['auth', 'dispatch', 'http', 'sessions'],
  mcp: ['auth', 'http', 'log', 'ops', 'sessions', 'terminal', 'transports'],
  describe: ['http'],
  cli: ['.', 'auth', 'coordinator', 'log', 'mcp', 'ops', 'sessions', 'terminal', 'transports'],
};

const PACKAGES: Readonly<Record<string, Table>> = { sdk: SDK, host: HOST };

export function checkLayers(tree: Tree): Finding[] {
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
function layerOf(file: string, root: string): string {
  const [folder = '', ...rest] = file.slice(root.length).split('/');
  return rest.length === 0 ? '.' : folder;
}

function judgeFile(file: SourceFile, { root, table }: Layers): Finding[] {
  const layer = layerOf(file.path, root);
  if (layer === '.' || layer === 'testing') return [];
  const allowed = table[layer];
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
      ? judgeRelative(layer, allowed, { root, target: resolveRelative(file.path, link.specifier) })
      : judgeForeign(layer, link);
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
  { root, target }: { readonly root: string; readonly target: string },
): Problem | undefined {
  if (!target.startsWith(root)) return undefined;
  const other = layerOf(target, root);
  if (other === layer || allowed.includes(other)) return undefined;
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
  if (layer !== 'contracts' || link.specifier === `${SCOPE}protocol`) return undefined;
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
