/** Archives of a journal that lives in memory: as gone with the process as the journal is. */
import { createHash } from 'node:crypto';
import type { ArchiveDraft, ArchiveFiles } from '../../platform/state/archive-files.ts';

export function createMemoryArchives(): ArchiveFiles {
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
