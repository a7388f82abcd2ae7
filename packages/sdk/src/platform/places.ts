/** Which root a path belongs to: the workspace, or a folder the host added under `@name/`. A request cannot add any. */
import { ToolError } from '@tool-runtime/protocol';
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
}

export interface Places {
  find(path: string): Place;
  /** Closes the extra roots; the workspace's own belongs to whoever opened it. */
  close(): void;
}

const EXTRA_NAME = /^[a-z0-9][a-z0-9_-]*$/;

export function createPlaces(root: Root, options: { readOnly: boolean; extraRoots: readonly ExtraRoot[] }): Places {
  const extras = openExtraRoots(root, options.extraRoots);
  const isWritable = !options.readOnly;
  return {
    find(input) {
      const spelling = relativePath(input);
      const [, name = '', rest = ''] = spelling.startsWith('@') ? spelling.split(/^@([^/]*)\/?/) : [];
      const extra = extras.get(name);
      if (extra === undefined) return { root, path: spelling, spelling, isWritable };
      const path = (rest === '' ? '.' : rest) as RelativePath;
      return { root: extra.root, path, spelling, isWritable: isWritable && extra.access === 'write' };
    },
    close() {
      for (const extra of extras.values()) extra.root.close();
    },
  };
}

function openExtraRoots(root: Root, wanted: readonly ExtraRoot[]): Map<string, { root: Root; access: string }> {
  const extras = new Map<string, { root: Root; access: string }>();
  try {
    for (const { name, path, access } of wanted) {
      if (!EXTRA_NAME.test(name) || extras.has(name)) throw new TypeError(`Extra root name is unusable: ${name}`);
      extras.set(name, { root: openRoot(path, { backend: root.backend }), access });
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
