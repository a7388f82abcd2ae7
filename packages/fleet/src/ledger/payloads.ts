/** Bytes that are too large for a message, by their digest, in the object store of the fleet. */
import { createHash } from 'node:crypto';
import { type ObjectStore, Objm, StorageType } from '@nats-io/obj';
import { ToolError } from '@tool-runtime/protocol';
import { BUCKETS } from '../wire/names.ts';
import type { Wire } from '../wire/open-wire.ts';
import { whenReady } from '../wire/streams.ts';

export interface Payloads {
  /** Resolves with `sha256:…`. The same bytes are kept once. */
  put(bytes: Uint8Array): Promise<string>;
  /** Rejects when they are missing or are not what the digest says. */
  get(reference: string): Promise<Buffer>;
}

export function createPayloads(wire: Wire): Payloads {
  let opened: Promise<ObjectStore> | undefined;
  const store = (): Promise<ObjectStore> => {
    opened ??= new Objm(wire.nc).create(BUCKETS.artifacts, { storage: StorageType.File, replicas: wire.replicas });
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  };
  return {
    async put(bytes) {
      const reference = referenceOf(bytes);
      // The name is the content, so an attempt that may have arrived is simply repeated.
      await whenReady(async () => {
        const objects = await store();
        const known = await objects.info(reference);
        if (known === null || known.deleted) await objects.putBlob({ name: reference }, bytes);
      });
      return reference;
    },
    async get(reference) {
      const bytes = await whenReady(async () => (await store()).getBlob(reference));
      if (bytes === null) throw missing(reference, 'missing');
      if (referenceOf(bytes) !== reference) throw missing(reference, 'changed');
      return Buffer.from(bytes);
    },
  };
}

function referenceOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function missing(reference: string, why: 'missing' | 'changed'): ToolError {
  return new ToolError('E_FILE_IO', `Content is ${why} in the object store of the fleet: ${reference}`, {
    details: { reason: `artifact_${why}`, next: 'it may be older than the store keeps it; make the call again' },
  });
}
