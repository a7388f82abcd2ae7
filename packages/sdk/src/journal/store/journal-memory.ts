/**
 * The journal in memory: the same rules and the same chain, gone with the process. For tests, and for hosts that are
 * told to keep nothing.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../contracts/clock.ts';
import type { JournalStore } from '../../contracts/journal.ts';
import type { ArchiveDraft, ArchiveFiles } from '../../platform/state/archive-files.ts';
import { createSystemClock } from '../../platform/system-clock.ts';
import { birthMark, createBlockJournal } from './block-journal.ts';
import type { ArchiveRow, BlockRow, InstanceRow, JournalTables, KeyRow } from './journal-tables.ts';

interface MemoryJournalOptions {
  readonly clock?: Clock;
  readonly checkpointEvery?: number;
}

export function createMemoryJournal(options: MemoryJournalOptions = {}): JournalStore {
  const { clock = createSystemClock(), checkpointEvery = Number.POSITIVE_INFINITY } = options;
  const masterKey = randomBytes(32);
  return createBlockJournal(createMemoryTables(birthMark(masterKey)), {
    masterKey,
    clock,
    checkpointEvery,
    archives: createMemoryArchives(),
  });
}

function createMemoryTables(birth: string): JournalTables {
  const blocks: BlockRow[] = [];
  const keys = new Map<string, KeyRow>();
  const archives = new Map<number, ArchiveRow>();
  const instances = new Map<string, InstanceRow>();
  const marks = new Map<'checkpoint', number>();
  let undo: (() => void)[] | undefined;

  /** Sets or deletes, and notes how to take it back. */
  function put<K, V>(map: Map<K, V>, name: K, value: V | undefined): void {
    const before = map.get(name);
    undo?.push(() => assign(map, name, before));
    assign(map, name, value);
  }

  return {
    lastBlock: () => blocks.at(-1),
    insertBlock(row) {
      if (row.first_seq <= (blocks.at(-1)?.first_seq ?? 0)) return false;
      blocks.push(row);
      undo?.push(() => void blocks.pop());
      return true;
    },
    blockAt: (seq) => blocks[indexAfter(blocks, seq) - 1],
    blocksAfter(firstSeq, limit) {
      const from = indexAfter(blocks, firstSeq);
      return blocks.slice(from, from + limit);
    },
    findKey: (scope, key) => keys.get(keyName(scope, key)),
    putKey: (row) => put(keys, keyName(row.scope, row.key), row),
    keys: () => keys.values(),
    settledKeys(scopePrefix, before, limit) {
      const isOld = ({ scope, settled_at }: KeyRow) =>
        scope.startsWith(scopePrefix) && settled_at !== null && settled_at < before;
      return [...keys.values()].filter(isOld).slice(0, limit);
    },
    lastTotal() {
      const { first_seq, claims } = blocks.findLast((row) => row.claims) ?? {};
      return first_seq === undefined || !claims ? undefined : { first_seq, claims };
    },
    birth: () => (blocks.length + archives.size === 0 ? birth : undefined),
    damage: () => undefined,
    // Archives are added in order, and a map keeps the place of what is replaced.
    archives: () => [...archives.values()],
    lastArchive: () => [...archives.values()].at(-1),
    putArchive: (row) => put(archives, row.through, row),
    deleteBlocks(through) {
      const deleted = blocks.splice(0, indexAfter(blocks, through));
      undo?.push(() => {
        for (const row of [...deleted, ...blocks.splice(0)]) blocks.push(row);
      });
    },
    deleteKey: (scope, key) => put(keys, keyName(scope, key), undefined),
    pendingKeys: (callId) => [...keys.values()].filter((row) => row.call_id === callId && row.state === 'pending'),
    checkpointSeq: () => marks.get('checkpoint') ?? 0,
    markCheckpoint: (seq) => put(marks, 'checkpoint', seq),
    putInstance: (row) => put(instances, row.id, row),
    findInstance: (id) => instances.get(id),
    instances: () => [...instances.values()].sort((one, other) => (one.id < other.id ? -1 : 1)),
    deleteRetired: () => 0,
    snapshot: (work) => work(),
    transaction(work) {
      const steps: (() => void)[] = [];
      undo = steps;
      try {
        return work();
      } catch (thrown) {
        for (const step of steps.reverse()) step();
        throw thrown;
      } finally {
        undo = undefined;
      }
    },
    close() {
      blocks.length = 0;
    },
  };
}

function assign<K, V>(map: Map<K, V>, name: K, value: V | undefined): void {
  if (value === undefined) map.delete(name);
  else map.set(name, value);
}

/** Index of the first block that starts after `seq`. */
function indexAfter(blocks: readonly BlockRow[], seq: number): number {
  let low = 0;
  for (let high = blocks.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if ((blocks[middle] as BlockRow).first_seq > seq) high = middle;
    else low = middle + 1;
  }
  return low;
}

function keyName(scope: string, key: string): string {
  return JSON.stringify([scope, key]);
}

/** Archives of a journal in memory: gone with the process, like the journal. */
function createMemoryArchives(): ArchiveFiles {
  const files = new Map<string, Buffer>();
  return {
    create: () => Promise.resolve(createDraft(files)),
    open(name) {
      const bytes = files.get(name);
      if (bytes === undefined) return undefined;
      return { size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length), close() {} };
    },
    list: () => [...files.keys()],
    drafts: () => [],
    remove: (name) => void files.delete(name),
  };
}

function createDraft(files: Map<string, Buffer>): ArchiveDraft {
  const chunks: Uint8Array[] = [];
  return {
    write: async (chunk) => void chunks.push(chunk),
    async finish() {
      const bytes = Buffer.concat(chunks);
      return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
    },
    place: (name) => void files.set(name, Buffer.concat(chunks)),
    discard: async () => {},
  };
}
