/**
 * A temporary place where a program is checked: a home, a project with a few files and a folder for runs.
 *
 * Changes are found by comparing names, sizes and digests before and after. What cannot be read counts as changed.
 */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256Hex } from '../digest.ts';

export interface ProbeScene {
  /** Absolute; in the environment of every probe, and nowhere else on this machine. */
  readonly root: string;
  readonly home: string;
  readonly temporary: string;
  readonly project: string;
  /** Base of the run folders. */
  readonly runs: string;
  /** A read-only folder; undefined where nothing stops the superuser. */
  readonly readOnly: string | undefined;
  /** A small file to stand for a pack. */
  readonly pack: string;
  /** Writes a file and answers its path. */
  write(name: string, content: string): string;
  remove(): void;
}

const PROJECT_FILES: Readonly<Record<string, string>> = {
  'README.md': '# Sample project\n\nThree lines and a heading.\n',
  'notes/first.txt': 'one\ntwo\nthree\n',
  'notes/second.txt': 'a line without an end',
};
/** Root ignores permissions, but not that this file system makes no files. */
const NEVER_WRITABLE = '/proc/self/fdinfo';

export function createProbeScene(): ProbeScene {
  const root = mkdtempSync(join(tmpdir(), 'tool-check-'));
  const folder = (name: string): string => {
    const path = join(root, name);
    mkdirSync(path, { mode: 0o700 });
    return path;
  };
  const write = (name: string, content: string): string => {
    const path = join(root, name);
    writeFileSync(path, content);
    return path;
  };
  const [home, temporary, project, runs] = ['home', 'tmp', 'project', 'state'].map(folder) as [
    string,
    string,
    string,
    string,
  ];
  folder('project/notes');
  for (const [name, content] of Object.entries(PROJECT_FILES)) write(`project/${name}`, content);
  return {
    ...{ root, home, temporary, project, runs, write },
    readOnly: readOnlyFolder(folder),
    pack: write('sample.pack', 'a pack\n'),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

function readOnlyFolder(make: (name: string) => string): string | undefined {
  if (process.getuid?.() === 0) return process.platform === 'linux' ? NEVER_WRITABLE : undefined;
  const path = make('read-only');
  chmodSync(path, 0o500);
  return path;
}

/** Path → what lies there; the folder itself is left out. */
export type FolderContent = ReadonlyMap<string, string>;

export function readFolderContent(folder: string): FolderContent {
  const found = new Map<string, string>();
  const pending = [''];
  // Not Node's own recursion: it goes through links.
  for (let inner = pending.pop(); inner !== undefined; inner = pending.pop()) {
    for (const name of readdirSync(join(folder, inner))) {
      const path = join(inner, name);
      const content = describeEntry(join(folder, path));
      found.set(path, content);
      if (content === 'folder') pending.push(path);
    }
  }
  return found;
}

function describeEntry(path: string): string {
  try {
    const stat = lstatSync(path);
    if (stat.isDirectory()) return 'folder';
    if (stat.isSymbolicLink()) return `link ${readlinkSync(path)}`;
    return stat.isFile() ? `file ${sha256Hex(readFileSync(path))}` : 'special';
  } catch {
    // Gone meanwhile or closed to us: worth telling either way.
    return 'unreadable';
  }
}

/** Paths that were added, changed or removed, sorted. */
export function changedPaths(before: FolderContent, after: FolderContent): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).sort();
}

/** Files below the folder that hold the text. */
export function filesWithText(folder: string, text: string): string[] {
  return [...readFolderContent(folder)]
    .filter(([, content]) => content.startsWith('file '))
    .map(([path]) => path)
    .filter((path) => readFileSync(join(folder, path)).includes(text))
    .sort();
}
