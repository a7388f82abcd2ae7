/** A failed system call inside the file layer: only the code, no path, so nothing can leak from it. */
import { constants } from 'node:os';

export class ErrnoError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.name = 'ErrnoError';
    this.code = code;
  }
}

const CODES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.errno).map(([name, value]) => [value, name]),
);

export function errnoError(errno: number): ErrnoError {
  return new ErrnoError(CODES.get(errno) ?? 'EIO');
}

/** `ENOENT` and friends, from our own calls and from Node's; undefined for anything that is not a system failure. */
export function errnoCode(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code } = thrown as { code?: unknown };
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}
