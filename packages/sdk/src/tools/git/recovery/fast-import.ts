/** One commit as `git fast-import` reads it: raw bytes under any names, no index, no work tree, no filters. */
import { quoted, type RawPath } from './raw-path.ts';

export type BlobMode = '100644' | '100755' | '120000';
const FOLDER = '040000';

/** Bytes, or the hash of an object git has already. */
export type BlobContent = { readonly bytes: Uint8Array } | { readonly hash: string };

export interface BlobEntry {
  readonly path: RawPath;
  readonly mode: BlobMode;
  readonly content: BlobContent;
}

/** A whole tree that git has already, under a name. */
export interface TreeEntry {
  readonly path: RawPath;
  readonly mode: typeof FOLDER;
  readonly content: { readonly hash: string };
}

export interface ImportedCommit {
  readonly ref: string;
  /** Seconds. */
  readonly time: number;
  readonly message: string;
  readonly parents: readonly string[];
  readonly entries: readonly (BlobEntry | TreeEntry)[];
}

export const COMMITTER = 'Tool Runtime <recovery@tool-runtime.invalid>';

/** For `fast-import --done`: half a stream makes no commit. */
export function importStream({ ref, time, message, parents, entries }: ImportedCommit): Buffer {
  const [first, ...others] = parents;
  const pieces: Uint8Array[] = [
    Buffer.from(`commit ${ref}\ncommitter ${COMMITTER} ${time} +0000\n`),
    ...dataOf(Buffer.from(message)),
    Buffer.from(first === undefined ? '' : `from ${first}\n`),
    Buffer.from(others.map((parent) => `merge ${parent}\n`).join('')),
    Buffer.from('deleteall\n'),
  ];
  for (const { path, mode, content } of entries) {
    if ('hash' in content) pieces.push(Buffer.from(`M ${mode} ${content.hash} ${quoted(path)}\n`));
    else pieces.push(Buffer.from(`M ${mode} inline ${quoted(path)}\n`), ...dataOf(content.bytes));
  }
  pieces.push(Buffer.from('\ndone\n'));
  return Buffer.concat(pieces);
}

function dataOf(bytes: Uint8Array): readonly Uint8Array[] {
  return [Buffer.from(`data ${bytes.byteLength}\n`), bytes, Buffer.from('\n')];
}
