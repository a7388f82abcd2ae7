/** Checks every import against the tables of layers, and the tables against their own order. */
import type { ImportLink } from './find-imports.ts';
import type { Finding } from './finding.ts';
import { PACKAGES, SDK, type Table } from './layers.ts';
import { bareName, resolveRelative, SCOPE } from './packages.ts';
import type { SourceFile, Tree } from './read-tree.ts';

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
