/** The journal of a site as it lies on disk. Looks only: it signs on nowhere and reconciles nothing. */
import type { JournalStore } from '@tool-runtime/sdk';
import { openSqliteJournal, openStateFolder } from '@tool-runtime/sdk/parts';
import type { Site } from '../stage/site.ts';

export async function withJournal<T>(site: Site, look: (journal: JournalStore) => T): Promise<T> {
  const journal = openSqliteJournal(openStateFolder(site.state, { workspace: site.folder }));
  try {
    return look(journal);
  } finally {
    await journal.close();
  }
}
