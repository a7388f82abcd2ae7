/** Opens the journal of a command that only looks: no runtime starts, and nothing is created or written. */
import type { JournalReader } from '@tool-runtime/sdk/parts';
import type { SharedOptions } from './command.ts';

export async function withJournal<T>(
  options: SharedOptions,
  use: (journal: JournalReader) => Promise<T> | T,
): Promise<T> {
  const [{ openJournalReader }, { stateOf }] = await Promise.all([
    import('@tool-runtime/sdk/parts'),
    import('./state-of.ts'),
  ]);
  const journal = openJournalReader(stateOf(options));
  try {
    return await use(journal);
  } finally {
    journal.close();
  }
}
