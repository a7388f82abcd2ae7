/** Reads `git config --list -z --show-origin`: where, key, value. */
import type { GitConfig } from '../contracts/git.ts';

export interface ConfigEntry {
  readonly origin: string;
  /** Section and name in lower case, subsection as written. */
  readonly key: string;
  readonly value: string;
}

/** The last value of a key counts, and the later of two lists. */
export function createConfig(entries: readonly ConfigEntry[]): GitConfig {
  const all = (key: string): readonly string[] =>
    entries.filter((entry) => entry.key === key).map(({ value }) => value);
  return { all, get: (key) => all(key).at(-1), keys: () => entries.map(({ key }) => key) };
}

export function parseConfig(output: string): readonly ConfigEntry[] {
  const fields = output.split('\0');
  const entries: ConfigEntry[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const origin = fields[at] ?? '';
    const pair = fields[at + 1] ?? '';
    const end = pair.indexOf('\n');
    // A key without "=" means true.
    entries.push(
      end < 0 ? { origin, key: pair, value: 'true' } : { origin, key: pair.slice(0, end), value: pair.slice(end + 1) },
    );
  }
  return entries;
}

/** As git reads a switch; a key without a value means true. */
export function isTrue(value: string | undefined): boolean {
  return value !== undefined && /^(?:true|yes|on|[1-9]\d*)$/i.test(value);
}
