/**
 * The names foreign tools get: `<prefix>_<tool>`, at most 40 characters of A-Z, a-z, 0-9, _ and -, because clients put
 * prefixes of their own before them and providers stop at 64.
 *
 * What had to be changed or cut, or is taken, ends in six digits of a hash over server and tool: the same tool has the
 * same name on every machine and whatever else is mounted.
 */
import { createHash } from 'node:crypto';

const MAX_NAME = 40;
const HASH = 6;

export interface ForeignOrigin {
  readonly server: string;
  readonly prefix: string;
  readonly tool: string;
}

/** `taken` is told the name that was chosen. */
export function foreignName(origin: ForeignOrigin, taken: Set<string>): string {
  const plain = `${origin.prefix}_${origin.tool}`;
  const safe = plain.replace(/[^A-Za-z0-9_-]/g, '_');
  const name = safe === plain && safe.length <= MAX_NAME && !taken.has(safe) ? safe : hashedName(safe, origin, taken);
  taken.add(name);
  return name;
}

function hashedName(safe: string, { server, tool }: ForeignOrigin, taken: ReadonlySet<string>): string {
  for (let round = 0; ; round++) {
    const text = JSON.stringify(round === 0 ? [server, tool] : [server, tool, round]);
    const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH);
    const name = `${safe.slice(0, MAX_NAME - HASH - 1)}_${hash}`;
    if (!taken.has(name)) return name;
  }
}
