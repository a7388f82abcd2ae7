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
    rotate: async () => ({ records: 0, through: 0, archives: [], bytes: 0 }),
    prune: async () => ({ archives: [], records: 0, answers: 0, instances: 0 }),
    enroll: nothing,
    instances: none,
    findInstance: () => undefined,
    retire: nothing,
    close: nothing,
  };
}
