/** What an operator is told when the marks of earlier writers do not fit the journal. */
import type { ErrorEntry } from '@tool-runtime/protocol';
import type { HeadFinding } from '../contracts/journal.ts';

export function headWarnings(findings: readonly HeadFinding[]): readonly ErrorEntry[] {
  return findings.map(({ reason, seq, mark }) =>
    reason === 'chain_cut'
      ? {
          code: 'E_INTERNAL',
          message: `Journal lacks record ${seq}, which an earlier process had seen on the disk: it was cut, rolled back or replaced`,
          details: {
            reason,
            seq,
            next: `restore journal.db; if you put an older copy there yourself, delete heads/${lost(mark)}`,
          },
        }
      : {
          code: 'E_INTERNAL',
          message: `The machine stopped without closing the journal: records behind ${seq}, those of about a second, may be missing`,
          details: {
            reason,
            seq,
            next: 'compare the files with the last calls (audit list); keys of that second may run again',
          },
        },
  );
}

function lost(mark: string): string {
  return mark.endsWith('.lost') ? mark : `${mark}.lost`;
}
