/**
 * What a keyed call is about to change, noted before it runs. A retry after a crash compares these notes with what is
 * there: everything as intended means the call happened, everything as before means it did not, and anything else
 * cannot be told.
 */
import type { JsonObject } from '@tool-runtime/protocol';
import type { MaybePromise } from './workspace.ts';

export interface ExpectedChange {
  /** `path:src/a.ts`, or a subject of git such as `git:HEAD`. */
  readonly subject: string;
  /** `Reading.exact` before the call. */
  readonly before: string;
  /** `Reading.content` after the call; null when the tool cannot tell in advance, so that success is never proven. */
  readonly after: string | null;
}

/** How a subject stands now. */
export interface Reading {
  /** What it holds: the same for two subjects with the same content. */
  readonly content: string;
  /** This very version of it: content that was changed and put back reads differently. */
  readonly exact: string;
  /** Facts that become part of the answer when the change is proven to have happened, such as the hash of a commit. */
  readonly found?: JsonObject;
}

export interface SubjectReader {
  /** Identity of the workspace root; paths noted below another root cannot be compared. */
  readonly root: string;
  /** Undefined for a subject that cannot be read from here. */
  read(subject: string): MaybePromise<Reading | undefined>;
}

/** Kept with the key until it has its answer. */
export interface Rehearsal {
  readonly root: string;
  readonly changes: readonly ExpectedChange[];
  /** The answer if exactly these changes happen; its `data` is null where only a look afterwards can tell. */
  readonly answer: JsonObject;
}
