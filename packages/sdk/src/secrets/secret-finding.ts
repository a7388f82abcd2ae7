/** What the scanner says about a secret: where and of which kind, never the secret itself. */

export interface SecretFinding {
  /** Stable kind, such as `github-token`. */
  readonly rule: string;
  /** From 1; lines end at a line feed. */
  readonly line: number;
  /** From 1, in UTF-16 units (bytes in binary content); a byte order mark does not count. */
  readonly column: number;
  /** The kind in words. Fixed per kind, so that nothing of the text can get into it. */
  readonly message: string;
  /** SHA-256 of the found value in hex, by which an exception names it. */
  readonly fingerprint: string;
}

/** A secret still in hand; does not leave this folder. */
export interface SecretMatch {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  readonly value: string;
}
