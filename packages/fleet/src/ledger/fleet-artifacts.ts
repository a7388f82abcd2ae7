/**
 * Artifacts of all hosts of a workspace: on the disk of the host that made them, and by their digest in the object store.
 *
 * A finished artifact is copied in the background, so its host may die before others can read it. A handle of another host
 * is looked up on the servers, and the content is kept in memory while its pages are read.
 */
import { isToolError } from '@tool-runtime/protocol';
import type { ArtifactPage, ArtifactRange, ArtifactStore, ArtifactWriter, LocalArtifacts } from '@tool-runtime/sdk';
import { readLast } from '../wire/compare-and-append.ts';
import { handleSubject, STREAMS } from '../wire/names.ts';
import type { Wire } from '../wire/open-wire.ts';
import { whenReady } from '../wire/streams.ts';
import type { Payloads } from './payloads.ts';

export interface SharedOptions {
  readonly wire: Wire;
  readonly workspace: string;
  readonly payloads: Payloads;
  log(event: string, fields: Readonly<Record<string, unknown>>): void;
}

export interface SharedArtifacts extends ArtifactStore {
  /** Resolves when everything that is finished has been copied or given up. */
  settled(): Promise<void>;
}

const HANDLE = /^artifact:([0-9a-f]{32})$/;
/** Larger ones stay on the disk of their host. */
const MAX_COPY_BYTES = 64 * 1024 * 1024;
/** As long as artifacts are kept on disk. */
const KEEP = '168h';

export function shareArtifacts(local: LocalArtifacts, options: SharedOptions): SharedArtifacts {
  const { wire, workspace, payloads, log } = options;
  const copying = new Set<Promise<void>>();
  let fetched: { readonly handle: string; readonly bytes: Buffer } | undefined;

  async function copy(handle: string, bytes: number): Promise<void> {
    const { bytes: content } = local.read(handle, { offset: 0, length: bytes });
    const reference = await payloads.put(content);
    await whenReady(() =>
      wire.js.publish(handleSubject(wire.tenant, workspace, idOf(handle)), reference, { ttl: KEEP }),
    );
  }

  function begin(handle: string, bytes: number): void {
    if (bytes > MAX_COPY_BYTES) {
      log('artifact_not_shared', { workspace, handle, bytes });
      return;
    }
    const running = copy(handle, bytes)
      .catch((error: unknown) => log('artifact_not_shared', { workspace, handle, error }))
      .finally(() => copying.delete(running));
    copying.add(running);
  }

  async function fetchElsewhere(handle: string, unknown: unknown): Promise<Buffer> {
    if (fetched?.handle === handle) return fetched.bytes;
    const subject = handleSubject(wire.tenant, workspace, idOf(handle));
    const { message } = await whenReady(() => readLast(wire, STREAMS.handles, subject));
    if (message === undefined || message.data.length === 0) throw unknown;
    const bytes = await payloads.get(message.string());
    fetched = { handle, bytes };
    return bytes;
  }

  return {
    create: () => sharing(local.create(), begin),
    read(handle, range) {
      try {
        return local.read(handle, range);
      } catch (thrown) {
        if (!HANDLE.test(handle) || !isToolError(thrown) || thrown.code !== 'E_FILE_IO') throw thrown;
        return fetchElsewhere(handle, thrown).then((bytes) => pageOf(bytes, range));
      }
    },
    prune: (limits) => local.prune(limits),
    async settled() {
      await Promise.all(copying);
    },
  };
}

function sharing(writer: ArtifactWriter, finished: (handle: string, bytes: number) => void): ArtifactWriter {
  return {
    handle: writer.handle,
    write: (chunk) => writer.write(chunk),
    finish() {
      const reference = writer.finish();
      finished(reference.handle, reference.bytes);
      return reference;
    },
    discard: () => writer.discard(),
  };
}

function idOf(handle: string): string {
  return HANDLE.exec(handle)?.[1] ?? '';
}

function pageOf(content: Buffer, { offset, length }: ArtifactRange): ArtifactPage {
  const totalBytes = content.length;
  const from = offset < 0 ? Math.max(0, totalBytes + offset) : Math.min(offset, totalBytes);
  return { bytes: content.subarray(from, from + length), offset: from, totalBytes };
}
