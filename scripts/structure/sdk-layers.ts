/**
 * Layers inside sdk/src: each folder may import itself and the folders listed for it.
 *
 * Files at the root of src (index.ts, runtime.ts and the wiring beside it) and testing/ may import everything;
 * nothing may import them back. Tests are free.
 */

import type { ImportLink } from './find-imports.ts';
import type { Finding } from './finding.ts';
import { bareName, resolveRelative, SCOPE } from './packages.ts';
import type { SourceFile, Tree } from './read-tree.ts';

const ROOT = 'packages/sdk/src/';
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

const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
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

export function checkSdkLayers(tree: Tree): Finding[] {
  return tree.sources
    .filter((file) => file.path.startsWith(ROOT) && !file.isTest)
    .flatMap((file) => judgeFile(file, layerOf(file.path)));
}

/** `undefined` for files at the root of src. */
function layerOf(file: string): string | undefined {
  const parts = file.slice(ROOT.length).split('/');
  return parts.length === 1 ? undefined : parts[0];
}

function judgeFile(file: SourceFile, layer: string | undefined): Finding[] {
  if (layer === undefined || layer === 'testing') return [];
  const allowed = MAY_IMPORT[layer];
  if (allowed === undefined) {
    return [
      finding(file, undefined, {
        what: `Folder without a layer: ${layer}`,
        next: 'Give it a line in scripts/structure/sdk-layers.ts',
      }),
    ];
  }
  return file.imports.flatMap((link) => {
    const problem = link.specifier.startsWith('.')
      ? judgeRelative(layer, allowed, resolveRelative(file.path, link.specifier))
      : judgeForeign(layer, link);
    return problem === undefined ? [] : [finding(file, link, problem)];
  });
}

interface Problem {
  readonly what: string;
  readonly next: string;
}

function judgeRelative(layer: string, allowed: readonly string[], target: string): Problem | undefined {
  if (!target.startsWith(ROOT)) return undefined;
  const other = layerOf(target);
  if (other === layer || (other !== undefined && allowed.includes(other))) return undefined;
  const list = allowed.length === 0 ? 'itself alone' : `itself, ${allowed.join(', ')}`;
  const name = other ?? target.slice(ROOT.length);
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
  return { level: 'fail', check: 'sdk-layers', file: file.path, ...line, ...problem };
}
