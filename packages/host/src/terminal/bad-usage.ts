/**
 * A command line that cannot be carried out as it stands. Not a ToolError: those load the protocol and its schemas,
 * which help and a mistyped option should not wait for.
 */
export class UsageError extends TypeError {
  readonly next: string | undefined;

  constructor(message: string, next?: string) {
    super(message);
    this.name = 'UsageError';
    this.next = next;
  }
}

export function badUsage(message: string, next?: string): UsageError {
  return new UsageError(message, next);
}

/** By its name: in the bundle of the command, its start and its commands each have a copy of this class. */
export function isUsageError(thrown: unknown): thrown is UsageError {
  return thrown instanceof Error && thrown.name === 'UsageError';
}
