/** Nodes of a tree in memory, and how a path finds its way among them, links included. */

export interface Folder {
  readonly type: 'folder';
  mode: number;
  readonly children: Map<string, Node>;
}

export type Node =
  | Folder
  | { readonly type: 'file'; readonly content: string; readonly mode: number }
  | { readonly type: 'link'; readonly text: string };

export class Refusal {
  readonly code: string;
  constructor(code: string) {
    this.code = code;
  }
}

export const fail = (code: string): never => {
  throw new Refusal(code);
};

export function split(path: string): { parts: string[]; isFolder: boolean } {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return { parts, isFolder: parts.length > 0 && /\/\.?$/.test(path) };
}

interface Step {
  readonly folder: Folder;
  readonly name: string;
}

/** The folders from the root down to the one the parts lead to. */
export function walk(root: Folder, parts: readonly string[]): Step[] {
  const steps: Step[] = [{ folder: root, name: '' }];
  const pending = [...parts];
  let links = 0;
  for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
    const here = steps.at(-1)!.folder;
    if (name === '.' || name === '') continue;
    if (name === '..') {
      if (steps.length === 1) fail('EXDEV');
      steps.pop();
      continue;
    }
    const next = here.children.get(name) ?? fail('ENOENT');
    if (next.type === 'file') fail('ENOTDIR');
    if (next.type === 'folder') steps.push({ folder: next, name });
    if (next.type === 'link') {
      links += 1;
      if (links > 40) fail('ELOOP');
      if (next.text.startsWith('/')) fail('EXDEV');
      pending.unshift(...next.text.split('/'));
    }
  }
  return steps;
}

export interface Place {
  readonly steps: readonly Step[];
  readonly missing: readonly string[];
  readonly name: string;
  readonly existing: Node | undefined;
}

export const parentOf = (place: Place): Folder => place.steps.at(-1)!.folder;

export function find(root: Folder, parts: readonly string[]): Place {
  const folders = parts.slice(0, -1);
  const name = parts.at(-1);
  const { steps, depth } = deepest(root, folders);
  if (name === undefined || name === '..') return fail('EISDIR');
  const missing = folders.slice(depth);
  return { steps, missing, name, existing: missing.length > 0 ? undefined : steps.at(-1)!.folder.children.get(name) };
}

function deepest(root: Folder, folders: readonly string[]): { steps: Step[]; depth: number } {
  for (let depth = folders.length; ; depth--) {
    try {
      return { steps: walk(root, folders.slice(0, depth)), depth };
    } catch (thrown) {
      const isMissing = thrown instanceof Refusal && thrown.code === 'ENOENT';
      if (!isMissing || depth === 0 || folders[depth - 1] === '..') throw thrown;
    }
  }
}

/** Through links in the last place. */
export function follow(root: Folder, path: string, options: { acceptsFolder: boolean }): Place {
  let { parts, isFolder } = split(path);
  for (let links = 0; links <= 40; links++) {
    const place = find(root, parts);
    if (isFolder && !options.acceptsFolder) fail('EISDIR');
    if (place.existing?.type !== 'link') return place;
    if (place.existing.text.startsWith('/')) fail('EXDEV');
    const behind = split(place.existing.text);
    parts = [...parts.slice(0, -1), ...behind.parts];
    isFolder = behind.isFolder;
  }
  return fail('ELOOP');
}
