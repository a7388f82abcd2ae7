/** Which root a path belongs to: the workspace, or a folder the host added under `@name/`. A request cannot add any. */
import { ToolError } from '@tool-runtime/protocol';
import type { PathRule } from '../../contracts/path-text.ts';
import type { Disk } from './disk.ts';
import { type RelativePath, relativePath, SANDBOX_RULE, shownPath } from './path-rules.ts';
import { openRoot, type Root } from './root.ts';

export interface ExtraRoot {
  /** Reached as `@name/…`; lower-case letters, digits, `-` and `_`. */
  readonly name: string;
  readonly path: string;
  readonly access: 'read' | 'write';
}

export interface Place {
  readonly root: Root;
  /** Below that root. */
  readonly path: RelativePath;
  /** The whole path in its normal form, `@name/` included. */
  readonly spelling: string;
  readonly isWritable: boolean;
  readonly disk: Disk;
  readonly ruling?: Ruling;
}

export interface Ruling {
  /** What path rules are written against. */
  readonly frame: RuleFrame;
  /** The path rules of the call the place was looked up for. */
  readonly rule: PathRule | undefined;
}

/** The root that path rules start from, and what is before a path below this place's own root. */
export interface RuleFrame {
  readonly root: Root;
  /** Before what callers write. */
  readonly pathPrefix: string;
  /** Before what `root` locates. */
  readonly locationPrefix: string;
}

export interface Places {
  find(path: string, rule?: PathRule): Place;
  /** All that may be written to. */
  readonly writableRoots: readonly Root[];
  /** Closes the extra roots; the workspace's own belongs to the caller. */
  close(): void;
}

const EXTRA_NAME = /^[a-z0-9][a-z0-9_-]*$/;

export interface PlacesOptions {
  readonly readOnly: boolean;
  readonly extraRoots: readonly ExtraRoot[];
  readonly disk: Disk;
  /** Of a workspace that is a folder of another one. */
  readonly enclosing?: Enclosing;
}

/** The workspace a folder belongs to. */
export interface Enclosing {
  readonly root: Root;
  /** Where the folder is in it, `.` for the root itself. */
  readonly prefix: string;
  /** The root is that of the folder, as it is in a transaction. */
  readonly isFolderItself?: boolean;
}

export function createPlaces(root: Root, options: PlacesOptions): Places {
  const extras = openExtraRoots(root, options.extraRoots);
  const isWritable = !options.readOnly;
  const { disk } = options;
  const frame = frameOf(root, options.enclosing);
  return {
    find(input, rule) {
      const spelling = relativePath(input);
      const [, name = '', rest = ''] = spelling.startsWith('@') ? spelling.split(/^@([^/]*)\/?/) : [];
      const extra = extras.get(name);
      if (extra === undefined) return { root, path: spelling, spelling, isWritable, disk, ruling: { frame, rule } };
      const path = (rest === '' ? '.' : rest) as RelativePath;
      const mayWrite = isWritable && extra.access === 'write';
      return { root: extra.root, path, spelling, isWritable: mayWrite, disk, ruling: { frame: extra.frame, rule } };
    },
    writableRoots: isWritable
      ? [root, ...[...extras.values()].filter(({ access }) => access === 'write').map((extra) => extra.root)]
      : [],
    close() {
      for (const extra of extras.values()) extra.root.close();
    },
  };
}

function frameOf(root: Root, enclosing: Enclosing | undefined): RuleFrame {
  if (enclosing === undefined) return { root, pathPrefix: '', locationPrefix: '' };
  const pathPrefix = enclosing.prefix === '.' ? '' : `${enclosing.prefix}/`;
  if (enclosing.isFolderItself === true) return { root: enclosing.root, pathPrefix, locationPrefix: pathPrefix };
  return { root: enclosing.root, pathPrefix, locationPrefix: '' };
}

interface OpenExtra {
  readonly root: Root;
  readonly access: string;
  readonly frame: RuleFrame;
}

function openExtraRoots(root: Root, wanted: readonly ExtraRoot[]): Map<string, OpenExtra> {
  const extras = new Map<string, OpenExtra>();
  try {
    for (const { name, path, access } of wanted) {
      if (!EXTRA_NAME.test(name) || extras.has(name)) throw new TypeError(`Extra root name is unusable: ${name}`);
      const opened = openRoot(path, { backend: root.backend, noteFolder: root.noteFolder });
      extras.set(name, { root: opened, access, frame: { root: opened, pathPrefix: '', locationPrefix: `@${name}/` } });
    }
    return extras;
  } catch (thrown) {
    for (const extra of extras.values()) extra.root.close();
    throw thrown;
  }
}

/** Throws E_POLICY when nothing may be changed there. */
export function requireWritable(place: Place): void {
  if (place.isWritable) return;
  throw new ToolError('E_POLICY', `Folder is read-only for this session: ${shownPath(place.spelling)}`, {
    path: shownPath(place.spelling),
    details: { rule: SANDBOX_RULE, reason: 'read_only', next: 'Ask the operator for write access' },
  });
}
