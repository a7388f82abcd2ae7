/** What the rules of the commit phase want to know of one content: plain data that is kept with the content's name. */

/** Goes into every key: what was kept under another version is not read. */
export const RECORD_VERSION = 1;

export interface CodePlace {
  readonly name: string;
  readonly line: number;
  /** First line of what belongs to it: attributes, decorators. */
  readonly from: number;
}

export interface UndocumentedPlace extends CodePlace {
  readonly id: string;
}

export interface ImportPlace {
  readonly source: string;
  readonly line: number;
  readonly typeOnly: boolean;
}

/** A comment that switches rules off for its last line and the line after. */
export interface IgnoreMark {
  readonly line: number;
  readonly rules: readonly string[];
}

export interface CodeRecord {
  readonly language: string;
  /** What people call the language's doc comments. */
  readonly docLabel: string;
  /** Exported functions and methods outside of tests. */
  readonly undocumented: readonly UndocumentedPlace[];
  /** What ends the program, in library code. */
  readonly panics: readonly CodePlace[];
  readonly unwraps: readonly CodePlace[];
  readonly imports: readonly ImportPlace[];
  readonly ignored: readonly IgnoreMark[];
  readonly unknown?: UnknownContent;
}

export type PlaceKind = 'undocumented' | 'panics' | 'unwraps' | 'imports';

/** A content that could not be read. */
export interface UnknownContent {
  /** `too_large`, `parse_timeout`, `unread`… */
  readonly reason: string;
  /** What it may hold, by its language. */
  readonly mayHold: readonly PlaceKind[];
}
