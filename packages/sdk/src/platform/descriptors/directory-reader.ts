/**
 * The entries of an open directory, with what they are, at the lowest price the machine offers.
 *
 * Through the native calls one directory costs one system call or two; without them Node reads it by its name under
 * `/proc/self/fd`. Both answer the same: files and links by their name, directories with a trailing slash, and nothing
 * else. Names that are no UTF-8 have no spelling in a path and are left out, as are sockets, pipes and devices.
 */
import { isUtf8 } from 'node:buffer';
import { constants, type Dirent, opendirSync } from 'node:fs';
import { errnoError } from '../errno-error.ts';
import { type ListedEntry, statEntry, typeOf } from './directory-entry.ts';
import type { NativeCalls } from './native-calls.ts';

/** In no order. Throws an error with an errno `code`. */
export type DirectoryReader = (fd: number) => Promise<string[]>;

const RECORD_BYTES = 64 * 1024;
/** Offsets in `struct linux_dirent64`. */
const LENGTH_AT = 16;
const TYPE_AT = 18;
const NAME_AT = 19;

const DT_UNKNOWN = 0;
const DT_DIR = 4;
const DT_REG = 8;
const DT_LNK = 10;

const DOT = 0x2e;
const FIRST_BEYOND_ASCII = 0x80;

export function createDirectoryReader(native: NativeCalls | undefined): DirectoryReader {
  if (native === undefined) return readByName;
  const records = Buffer.allocUnsafeSlow(RECORD_BYTES);
  return async (fd) => {
    const entries: string[] = [];
    for (let next = SLICE_ENTRIES; ; ) {
      const length = native.readDirectory(fd, records);
      if (length < 0) throw errnoError(-length);
      if (length === 0) return entries;
      takeRecords(records.subarray(0, length), fd, entries);
      if (entries.length < next) continue;
      next = entries.length + SLICE_ENTRIES;
      // The buffer is shared, so it is filled and emptied within one turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
}

function takeRecords(records: Buffer, fd: number, entries: string[]): void {
  for (let at = 0; at < records.length; ) {
    const length = (records[at + LENGTH_AT] ?? 0) | ((records[at + LENGTH_AT + 1] ?? 0) << 8);
    const type = records[at + TYPE_AT] ?? DT_UNKNOWN;
    const name = readName(records, at + NAME_AT);
    if (name !== undefined) {
      if (type === DT_REG || type === DT_LNK) entries.push(name);
      else if (type === DT_DIR) entries.push(`${name}/`);
      else if (type === DT_UNKNOWN) takeUnknown(fd, name, entries);
    }
    at += length;
  }
}

/** Undefined for `.`, `..` and what is no UTF-8. */
function readName(records: Buffer, start: number): string | undefined {
  let end = start;
  let union = 0;
  for (let byte = records[end] ?? 0; byte !== 0; byte = records[end] ?? 0) {
    union |= byte;
    end += 1;
  }
  if (records[start] === DOT && (end === start + 1 || (records[start + 1] === DOT && end === start + 2))) {
    return undefined;
  }
  if (union < FIRST_BEYOND_ASCII) return records.toString('latin1', start, end);
  return isUtf8(records.subarray(start, end)) ? records.toString('utf8', start, end) : undefined;
}

/** Some file systems do not say what an entry is. */
function takeUnknown(dirFd: number, name: string, entries: string[]): void {
  const mode = Number(statEntry({ dirFd, name })?.mode ?? 0n) & constants.S_IFMT;
  if (mode === constants.S_IFREG || mode === constants.S_IFLNK) entries.push(name);
  else if (mode === constants.S_IFDIR) entries.push(`${name}/`);
}

async function readByName(fd: number): Promise<string[]> {
  const listed = await listEntries(fd);
  return listed.flatMap(({ name, type }) => {
    if (typeof name !== 'string' || type === 'other') return [];
    return [type === 'directory' ? `${name}/` : name];
  });
}

/** Entries between two turns of the event loop: about a millisecond. */
export const SLICE_ENTRIES = 1024;

const REPLACEMENT = '\ufffd';

/**
 * What is in an open directory, read a bounded number of entries at a time: however large it is, everyone else gets a turn
 * in between. Nothing on the path of a call reads a whole directory in one go.
 *
 * Every entry with its exact name. The types may change at any time: check again after opening.
 */
export async function listEntries(dirFd: number): Promise<ListedEntry[]> {
  const entries: ListedEntry[] = [];
  let isMangled = false;
  await eachEntry(dirFd, 'utf8', (entry) => {
    isMangled ||= entry.name.includes(REPLACEMENT);
    entries.push({ dirFd, name: entry.name, type: typeOf(entry) });
  });
  // Some name may be no UTF-8; only then are bytes worth their price.
  return isMangled ? listBytes(dirFd) : entries;
}

/** The wanted names; one that is no UTF-8 comes mangled and will simply not be found. */
export async function findNames(dirFd: number, isWanted: (name: string) => boolean): Promise<string[]> {
  const names: string[] = [];
  await eachEntry(dirFd, 'utf8', ({ name }) => {
    if (isWanted(name)) names.push(name);
  });
  return names;
}

async function listBytes(dirFd: number): Promise<ListedEntry[]> {
  const entries: ListedEntry[] = [];
  await eachEntry(dirFd, 'buffer', (entry) => {
    const bytes = entry.name as unknown as Buffer;
    entries.push({ dirFd, name: isUtf8(bytes) ? bytes.toString('utf8') : bytes, type: typeOf(entry) });
  });
  return entries;
}

async function eachEntry(dirFd: number, encoding: 'utf8' | 'buffer', take: (entry: Dirent) => void): Promise<void> {
  const options = { encoding: encoding as BufferEncoding, bufferSize: SLICE_ENTRIES };
  const directory = opendirSync(`/proc/self/fd/${dirFd}`, options);
  try {
    for (let count = 1; ; count++) {
      const entry = directory.readSync();
      if (entry === null) return;
      take(entry);
      if (count % SLICE_ENTRIES === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    directory.closeSync();
  }
}
