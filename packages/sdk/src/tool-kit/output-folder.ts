/**
 * Files a tool leaves behind, below `outputs/` of its run folder.
 *
 * Names are checked and no link is followed or replaced, so that input which decides about names cannot lead the tool
 * out of its folder. A file is written once.
 */
import { hash } from 'node:crypto';
import { closeSync, constants, lstatSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One entry of `outputs` in `result.json`. */
export interface OutputEntry {
  readonly path: string;
  readonly media_type: string;
  readonly digest: string;
  readonly bytes: number;
}

const FOLDER = 'outputs';
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Makes `outputs/`, which also shows whether the run folder can be written at all. */
export function openOutputFolder(runDir: string): void {
  ensureFolder(join(runDir, FOLDER));
}

/** `path` is relative to `outputs/`. Throws TypeError for a path that is none, and what the file system says. */
export function writeOutputFile(
  runDir: string,
  path: string,
  content: string | Uint8Array,
  mediaType: string,
): OutputEntry {
  const parts = checkedParts(path);
  if (!/^[^/\s]+\/[^/\s]/.test(mediaType)) throw new TypeError(`Not a media type: ${mediaType}`);
  let folder = join(runDir, FOLDER);
  for (const part of parts.slice(0, -1)) {
    folder = join(folder, part);
    ensureFolder(folder);
  }
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  const file = openSync(join(folder, parts.at(-1) ?? ''), NEW_FILE, 0o644);
  try {
    writeFileSync(file, bytes);
  } finally {
    closeSync(file);
  }
  return {
    path: [FOLDER, ...parts].join('/'),
    media_type: mediaType,
    digest: `sha256:${hash('sha256', bytes, 'hex')}`,
    bytes: bytes.byteLength,
  };
}

function checkedParts(path: string): string[] {
  const parts = path.split('/');
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  if (isPlain && !/[\\\u0000-\u001f\u007f]/.test(path) && !/^[A-Za-z]:/.test(path)) return parts;
  throw new TypeError(`Not a path below ${FOLDER}/: ${JSON.stringify(path)}`);
}

function ensureFolder(path: string): void {
  try {
    // Not `recursive`: where a file system answers "no such entry" forever, as /proc does, Node tries forever.
    mkdirSync(path, { mode: 0o700 });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
  if (!lstatSync(path).isDirectory()) throw new TypeError(`A link where a folder of outputs should be: ${path}`);
}
