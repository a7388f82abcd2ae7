/**
 * The index file, read as far as it says by itself what it holds. Where it does not (compressed names, parts in another
 * file, an unknown extension, a cut file) the answer is undefined, and git must be asked.
 */
const HEADER_BYTES = 12;
const EXTENSION_HEADER_BYTES = 8;
/** Times, sizes and numbers of the file, before its hash. */
const STAT_BYTES = 40;
const FLAG_BYTES = 2;
const EXTENDED = 0x4000;
const ASSUME_UNCHANGED = 0x8000;
const STAGES = 0x3000;
const LONG_NAME = 0xfff;
/** Caches, which git makes again: a cached tree, untracked files, a monitor's bits, and two tables of offsets. */
const CACHES = ['TREE', 'UNTR', 'FSMN', 'EOIE', 'IEOT'];

export interface IndexFacts {
  /** Files in conflict have several entries. */
  readonly hasUnmerged: boolean;
  /** Nothing but names, modes and hashes: the same index can be made from its tree. */
  readonly isPlain: boolean;
  /** All entries, as they are in the file. */
  readonly entries: Buffer;
  /** The trees of folders, as far as they are noted. */
  readonly cachedTree: Buffer | undefined;
}

/** `hashBytes`: 20, or 32 in a repository with SHA-256. */
export function readIndex(index: Buffer, hashBytes: number): IndexFacts | undefined {
  if (index.length < HEADER_BYTES + hashBytes || index.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = index.readUInt32BE(4);
  if (version !== 2 && version !== 3) return undefined;
  const end = index.length - hashBytes;
  const entries = readEntries(index, { hashBytes, end });
  if (entries === undefined) return undefined;
  const others = extensionsOf(index, entries.next, end);
  if (others === undefined || others.has('link') || others.has('sdir')) return undefined;
  const { hasUnmerged, hasFlags } = entries;
  const isPlain = !hasFlags && !hasUnmerged && [...others.keys()].every((name) => CACHES.includes(name));
  return { hasUnmerged, isPlain, entries: index.subarray(HEADER_BYTES, entries.next), cachedTree: others.get('TREE') };
}

function readEntries(index: Buffer, { hashBytes, end }: { readonly hashBytes: number; readonly end: number }) {
  let at = HEADER_BYTES;
  let [hasFlags, hasUnmerged] = [false, false];
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const flagsAt = at + STAT_BYTES + hashBytes;
    if (flagsAt + FLAG_BYTES > end) return undefined;
    const flags = index.readUInt16BE(flagsAt);
    hasFlags ||= (flags & (EXTENDED | ASSUME_UNCHANGED)) !== 0;
    hasUnmerged ||= (flags & STAGES) !== 0;
    const nameAt = flagsAt + FLAG_BYTES + ((flags & EXTENDED) === 0 ? 0 : FLAG_BYTES);
    const length = flags & LONG_NAME;
    const nameEnd = length === LONG_NAME ? index.indexOf(0, nameAt) : nameAt + length;
    if (nameEnd < 0 || nameEnd >= end) return undefined;
    // Filled up with one to eight zeros.
    at += (nameEnd - at + 8) & ~7;
  }
  return at > end ? undefined : { next: at, hasFlags, hasUnmerged };
}

function extensionsOf(index: Buffer, start: number, end: number): ReadonlyMap<string, Buffer> | undefined {
  const found = new Map<string, Buffer>();
  let at = start;
  while (at + EXTENSION_HEADER_BYTES <= end) {
    const from = at + EXTENSION_HEADER_BYTES;
    const next = from + index.readUInt32BE(at + 4);
    found.set(index.toString('latin1', at, at + 4), index.subarray(from, next));
    at = next;
  }
  return at === end ? found : undefined;
}
