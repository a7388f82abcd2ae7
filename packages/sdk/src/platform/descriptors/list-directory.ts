/**
 * What is in an open directory, read a bounded number of entries at a time: however large it is, everyone else gets a turn
 * in between. Nothing on the path of a call reads a whole directory in one go.
 */
import { isUtf8 } from 'node:buffer';
import { type Dirent, opendirSync } from 'node:fs';
import { type ListedEntry, typeOf } from './directory-entry.ts';

/** Entries between two turns of the event loop: about a millisecond. */
export const SLICE_ENTRIES = 1024;

const REPLACEMENT = '\ufffd';

/** Every entry with its exact name. The types may change at any time: check again after opening. */
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
