/** What one file may cost. Beyond them a file is refused with a reason, never indexed in part. */
export interface ParseLimits {
  readonly maxFileBytes: number;
  readonly maxParseMs: number;
  readonly maxSymbols: number;
}

export const PARSE_LIMITS: ParseLimits = {
  maxFileBytes: 4 * 1024 * 1024,
  maxParseMs: 5_000,
  maxSymbols: 200_000,
};
