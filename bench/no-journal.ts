/** A journal that keeps nothing: what is left of a call's time when recording costs nothing. */
import type { JournalStore } from '@tool-runtime/sdk';

const HEAD = { seq: 0, mac: '' };

export function noJournal(): JournalStore {
  const nothing = (): void => {};
  const none = (): readonly [] => [];
  return {
    append: nothing,
    claim: () => ({ state: 'new' }),
    lookup: () => ({ state: 'new' }),
    settle: nothing,
    release: nothing,
    claimsOf: none,
    unfinished: none,
    atomically: (work) => work(),
    read: none,
    head: () => HEAD,
    verify: () => ({ ok: true, records: 0, head: HEAD }),
    enroll: nothing,
    instances: none,
    retire: nothing,
    close: nothing,
  };
}
