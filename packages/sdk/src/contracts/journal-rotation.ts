/** How old records leave the journal: first into archives, then, with these, for good. */

/** Old records were moved out of the journal: into an archive, or, with their archive, out of the world. */
export type RotationRecord = ArchivedRecord | PrunedRecord | RunsRemovedRecord | SealedRecord;

interface ArchivedRecord {
  readonly kind: 'rotation';
  readonly event: 'archived';
  readonly at_ms: number;
  /** The last record that was moved; the journal begins after it. */
  readonly through: number;
  /** The chain's MAC at that place. */
  readonly mac: string;
  readonly records: number;
  /** Name of the file in the state folder, and the digest of its bytes. */
  readonly archive: string;
  readonly archive_sha256: string;
}

interface PrunedRecord {
  readonly kind: 'rotation';
  readonly event: 'pruned';
  readonly at_ms: number;
  /** The last record whose archive is deleted, 0 while none is. */
  readonly through: number;
  readonly records: number;
  readonly archives: readonly string[];
  /** Answers of idempotency keys that are not repeated any more. */
  readonly answers: number;
}

/** Folders of external runs that were older than is kept. What the journal has of these runs stays. */
interface RunsRemovedRecord {
  readonly kind: 'rotation';
  readonly event: 'runs_removed';
  readonly at_ms: number;
  /** The first of them, oldest first. */
  readonly runs: readonly string[];
  readonly runs_total: number;
}

/** The claims of a journal of an older version, which were not part of the chain, were sealed as they were found. */
interface SealedRecord {
  readonly kind: 'rotation';
  readonly event: 'sealed';
  readonly at_ms: number;
  readonly claims: number;
}

export interface ArchiveCheck {
  readonly archive: string;
  readonly first: number;
  readonly through: number;
  /** `pruned`: deleted by `prune`. `missing`: gone without a record of it; the chain around it may be whole all the same. */
  readonly state: 'ok' | 'broken' | 'missing' | 'pruned';
  readonly broken?: { readonly seq: number; readonly reason: string };
}

/** What stays in the journal; the rest moves, in whole blocks and never past the intent of a call that is still open. */
export type RotateOptions = ({ readonly before: number } | { readonly keepRecords: number }) & {
  /** Nothing moves while there are fewer than this to move: a timer should not make an archive of three records. */
  readonly minRecords?: number;
};

export interface RotateReport {
  /** 0 when there was nothing to do. */
  readonly records: number;
  /** The journal begins after this record. */
  readonly through: number;
  /** The archives made, oldest first: more than one only where there was very much to move. */
  readonly archives: readonly string[];
  /** Their size. */
  readonly bytes: number;
  /** The oldest open call, where it kept records from moving. */
  readonly heldBy?: { readonly callId: string; readonly seq: number };
}

export interface PruneOptions {
  /** Deletes archives whose newest record is older than that. */
  readonly archivesOlderThanMs?: number;
  /** Deletes all archives but the newest so many. With both, an archive goes that either says should. */
  readonly keepArchives?: number;
  /**
   * Forgets answers of idempotency keys settled longer ago than that: a client that repeats such a key later runs the
   * call again. Unset, answers are kept. Pending keys and answers of dedupe keys always are.
   */
  readonly answersOlderThanMs?: number;
}

export interface PruneReport {
  readonly archives: readonly string[];
  /** Records that were in them. */
  readonly records: number;
  readonly answers: number;
  /** Entries of processes that had signed off. */
  readonly instances: number;
}
