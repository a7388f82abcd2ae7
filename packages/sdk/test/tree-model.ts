/**
 * A workspace in memory, written as plainly as possible: what the real one must answer and leave behind.
 *
 * Nodes hang in maps, a path is walked component by component, and every operation is a change of maps. Errors are
 * errno names; `answerOf` says which code a caller sees for them.
 */
import {
  type Folder,
  fail,
  find,
  follow,
  type Node,
  type Place,
  parentOf,
  Refusal,
  split,
  walk,
} from './model-paths.ts';

export type Operation =
  | { readonly do: 'write'; readonly path: string; readonly content: string; readonly createDirs: boolean }
  | { readonly do: 'mkdir'; readonly path: string }
  | {
      readonly do: 'move';
      readonly from: string;
      readonly to: string;
      readonly overwrite: boolean;
      readonly createDirs: boolean;
    }
  | {
      readonly do: 'copy';
      readonly from: string;
      readonly to: string;
      readonly overwrite: boolean;
      readonly createDirs: boolean;
      readonly preserveMode: boolean;
    }
  | { readonly do: 'remove'; readonly path: string; readonly recursive: boolean };

const POLICY = new Set(['EXDEV', 'ELOOP', 'protected', 'root']);

/** How many entries the operation reports, or the code it is refused with. */
export function answerOf(root: Folder, operation: Operation): number | string {
  try {
    return perform(root, operation);
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    return POLICY.has(thrown.code) ? 'E_POLICY' : 'E_FILE_IO';
  }
}

function perform(root: Folder, operation: Operation): number {
  switch (operation.do) {
    case 'write':
      return write(root, operation);
    case 'mkdir':
      return mkdir(root, operation.path);
    case 'remove':
      return remove(root, operation);
    default:
      return transfer(root, operation);
  }
}

const isProtected = (name: string): boolean => name.toLowerCase() === '.git';

function guard({ steps, missing, name }: Place): void {
  if ([...steps.map((step) => step.name), ...missing, name].some(isProtected)) fail('protected');
}

function operand(root: Folder, path: string): Place {
  const { parts, isFolder } = split(path);
  const name = parts.at(-1);
  if (name === undefined) fail('root');
  if (name === '..') fail(walk(root, parts).length === 1 ? 'root' : 'EINVAL');
  const place = find(root, parts);
  guard(place);
  if (isFolder && place.existing !== undefined && place.existing.type !== 'folder') fail('ENOTDIR');
  return place;
}

const folderOf = (mode: number): Folder => ({ type: 'folder', mode, children: new Map() });

function make(place: Place): Folder {
  let folder = parentOf(place);
  for (const name of place.missing) {
    // A link that leads nowhere has the name.
    if (folder.children.has(name)) fail('ENOTDIR');
    const next = folderOf(0o755);
    folder.children.set(name, next);
    folder = next;
  }
  return folder;
}

function write(root: Folder, { path, content, createDirs }: Operation & { do: 'write' }): number {
  const place = follow(root, path, { acceptsFolder: false });
  guard(place);
  if (place.missing.length > 0 && !createDirs) fail('ENOENT');
  if (place.existing?.type === 'folder') fail('EISDIR');
  const mode = place.existing?.type === 'file' ? place.existing.mode : 0o644;
  make(place).children.set(place.name, { type: 'file', content, mode });
  return 1;
}

function mkdir(root: Folder, path: string): number {
  try {
    walk(root, split(path).parts);
    return 0;
  } catch (thrown) {
    if (!(thrown instanceof Refusal) || thrown.code !== 'ENOENT') throw thrown;
  }
  const place = follow(root, path, { acceptsFolder: true });
  guard(place);
  const folder = make(place);
  if (folder.children.has(place.name)) return 0;
  folder.children.set(place.name, folderOf(0o755));
  return 1;
}

function remove(root: Folder, { path, recursive }: Operation & { do: 'remove' }): number {
  const place = operand(root, path);
  if (place.existing === undefined) return 0;
  if (place.existing.type === 'folder' && !recursive && place.existing.children.size > 0) fail('ENOTEMPTY');
  const count = survey(place.existing);
  parentOf(place).children.delete(place.name);
  return count;
}

/** Counts a tree, refusing protected names in it. */
function survey(node: Node): number {
  if (node.type !== 'folder') return 1;
  let count = 1;
  for (const [name, child] of node.children) {
    if (isProtected(name)) fail('protected');
    count += survey(child);
  }
  return count;
}

function transfer(root: Folder, operation: Operation & { do: 'move' | 'copy' }): number {
  const from = operand(root, operation.from);
  const to = operand(root, operation.to);
  const source = from.existing ?? fail('ENOENT');
  if (to.missing.length === 0 && parentOf(from) === parentOf(to) && from.name === to.name) {
    return operation.do === 'move' ? 0 : fail('same');
  }
  checkTarget(operation, source, from, to);
  const count = survey(source);
  if (to.existing !== undefined) survey(to.existing);
  const placed = operation.do === 'move' ? source : clone(source, operation.preserveMode);
  const folder = make(to);
  if (operation.do === 'move') parentOf(from).children.delete(from.name);
  folder.children.set(to.name, placed);
  return count;
}

function checkTarget(operation: Operation & { do: 'move' | 'copy' }, source: Node, from: Place, to: Place): void {
  if (to.steps.some(({ folder }) => folder === source)) fail('into_itself');
  if (from.steps.some(({ folder }) => folder === to.existing)) fail('contains_source');
  if (split(operation.to).isFolder && source.type !== 'folder') fail('ENOTDIR');
  if (to.existing !== undefined) {
    if (!operation.overwrite) fail('EEXIST');
    if ((to.existing.type === 'folder') !== (source.type === 'folder')) fail('type_differs');
  }
  if (to.missing.length > 0 && !operation.createDirs) fail('ENOENT');
}

function clone(node: Node, preserveMode: boolean): Node {
  if (node.type === 'link') return node;
  if (node.type === 'file') return preserveMode ? node : { ...node, mode: 0o644 };
  const copy = folderOf(preserveMode ? node.mode : 0o755);
  for (const [name, child] of node.children) copy.children.set(name, clone(child, preserveMode));
  return copy;
}

/** Every path with what is there, in one order. */
export function listing(node: Node, path = '.'): string[] {
  if (node.type === 'link') return [`${path} -> ${node.text}`];
  if (node.type === 'file') return [`${path} ${node.mode.toString(8)} ${node.content}`];
  const inner = [...node.children].flatMap(([name, child]) => listing(child, `${path}/${name}`));
  return [`${path}/ ${path === '.' ? '' : node.mode.toString(8)}`, ...inner].sort();
}
