/** Reads what `git cat-file --batch` prints: objects one after the other, each with its size in front. */

export interface BatchObject {
  /** What was asked for. */
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

const NEWLINE = 0x0a;

export function* readBatch(output: Buffer, names: readonly string[]): Generator<BatchObject> {
  let at = 0;
  for (const name of names) {
    const end = output.indexOf(NEWLINE, at);
    if (end < 0) return;
    const [, type = '', size] = output.toString('utf8', at, end).split(' ');
    at = end + 1;
    // "name missing" and "name ambiguous" have no content behind them.
    if (size === undefined) continue;
    const length = Number(size);
    yield { name, type, bytes: output.subarray(at, at + length) };
    at += length + 1;
  }
}

export interface BatchLine {
  readonly name: string;
  /** Undefined when there is no such object. */
  readonly hash: string | undefined;
  readonly type: string;
  readonly size: number;
}

/** The same for `--batch-check`, one line an object. */
export function readBatchCheck(output: string, names: readonly string[]): readonly BatchLine[] {
  const lines = output.split('\n');
  return names.map((name, index) => {
    const found = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(lines[index] ?? '');
    return { name, hash: found?.[1], type: found?.[2] ?? '', size: Number(found?.[3] ?? 0) };
  });
}
