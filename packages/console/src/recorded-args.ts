/** Arguments of a call as far as its record has them. What was cut, masked or counted there stays a mark to fill in. */
const PAIR = /([\w.-]+)=("(?:[^"\\]|\\.)*"|\[\d+ items\]|\{\d+ keys\}|<\d+ bytes>|\S+)/g;

export interface RecordedArgs {
  readonly args: Readonly<Record<string, unknown>>;
  /** Whether every value is the one of the call. */
  readonly isWhole: boolean;
}

/** `summary` is the line of the record: `path="src/a.ts" content=<63 bytes>`. */
export function readSummary(summary: string): RecordedArgs {
  const args: Record<string, unknown> = {};
  let isWhole = !summary.endsWith('…') && !summary.startsWith('(');
  for (const [, name = '', shown = ''] of summary.matchAll(PAIR)) {
    const value = readValue(shown);
    // As long as `{}` or `null`: most likely a default that was filled in.
    if (shown === '<2 bytes>' || shown === '<4 bytes>') {
      isWhole = false;
      continue;
    }
    if (value === undefined) isWhole = false;
    args[name] = value === undefined ? `FILL IN: ${shown}` : value;
  }
  return { args, isWhole };
}

function readValue(shown: string): unknown {
  if (!/^(?:"|-?\d|true$|false$|null$)/.test(shown)) return undefined;
  try {
    const value = JSON.parse(shown) as unknown;
    return typeof value === 'string' && /…$|\[redacted\]/i.test(value) ? undefined : value;
  } catch {
    return undefined;
  }
}
