/** Reads `git config --list -z --show-origin`: where, key, value. */

export interface ConfigEntry {
  readonly origin: string;
  /** Section and name in lower case, subsection as written. */
  readonly key: string;
  readonly value: string;
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
