/** Real changes of files as edit requests, spoilt the way models spoil them. Deterministic: the same pairs give the same cases. */

export interface FilePair {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/** One changed place, in lines without their ends. */
interface Change {
  readonly file: readonly string[];
  /** Index of the first line of context. */
  readonly start: number;
  readonly above: readonly string[];
  readonly removed: readonly string[];
  readonly added: readonly string[];
  readonly below: readonly string[];
}

export interface Landing {
  readonly name: string;
  readonly spoil: string;
  readonly file: string;
  readonly expected: string;
  /** As old and new text. */
  readonly old: string;
  readonly new: string;
  /** As a unified diff; undefined where the spoil has no such form. */
  readonly diff: string | undefined;
  /** As the lines between `*** Begin Patch` and `*** End Patch`. */
  readonly chunk: readonly string[] | undefined;
  /** As a text, or as a diff without numbers, it would be a sound request for another place. */
  readonly isOnlyDiff: boolean;
  /** See `isPlaceable`, for the text and for the diff. */
  readonly placeable: { readonly edit: boolean; readonly diff: boolean };
}

export function landings(pairs: readonly FilePair[]): readonly Landing[] {
  return pairs.flatMap((pair) =>
    changesOf(pair).flatMap((change, at) =>
      Object.entries(SPOILS).flatMap(([spoil, apply]) => {
        const spoilt = apply(change, randomFrom(`${pair.name} ${at} ${spoil}`));
        return spoilt === undefined ? [] : [landing(`${pair.name}#${at}`, spoil, spoilt)];
      }),
    ),
  );
}

const CONTEXT = 3;
const MAX_CONTEXT = 9;

/** Changed places far enough apart, each with as much context as makes its old lines unique, or left out. */
function changesOf({ before, after }: FilePair): readonly Change[] {
  const [old, now] = [before.replace(/\n$/, '').split('\n'), after.replace(/\n$/, '').split('\n')];
  if (before.includes('\r') || old.length > 4000 || now.length > 4000) return [];
  return spread(blocksOf(old, now)).flatMap(({ from, to, added }) => {
    for (let size = CONTEXT; size <= MAX_CONTEXT; size++) {
      const [start, end] = [Math.max(0, from - size), Math.min(old.length, to + size)];
      const run = old.slice(start, end).map(normal);
      const places = old.keys().filter((at) => run.every((line, row) => normal(old[at + row] ?? '\0') === line));
      if ([...places].length !== 1) continue;
      const [above, removed, below] = [old.slice(start, from), old.slice(from, to), old.slice(to, end)];
      return [{ file: old, start, above, removed, added, below }];
    }
    return [];
  });
}

const MOST_OF_A_FILE = 10;

/** So many from all over the file. */
function spread(blocks: readonly Block[]): readonly Block[] {
  const step = Math.max(1, Math.ceil(blocks.length / MOST_OF_A_FILE));
  return blocks.filter((_, at) => at % step === 0);
}

interface Block {
  readonly from: number;
  readonly to: number;
  readonly added: readonly string[];
}

/** Longest common subsequence of lines; changes of more than 40 lines are no edit requests. */
function blocksOf(old: readonly string[], now: readonly string[]): readonly Block[] {
  const width = now.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = now.length - 1; column >= 0; column--) {
      const at = row * width + column;
      lengths[at] =
        old[row] === now[column]
          ? (lengths[at + width + 1] ?? 0) + 1
          : Math.max(lengths[at + width] ?? 0, lengths[at + 1] ?? 0);
    }
  }
  const blocks: Block[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < now.length) {
    const [from, first] = [row, column];
    while ((row < old.length || column < now.length) && (row >= old.length || old[row] !== now[column])) {
      const at = row * width + column;
      if (column >= now.length || (row < old.length && (lengths[at + width] ?? 0) >= (lengths[at + 1] ?? 0))) row++;
      else column++;
    }
    if (row > from || column > first) blocks.push({ from, to: row, added: now.slice(first, column) });
    row++;
    column++;
  }
  return blocks.filter(({ from, to, added }) => to - from <= 40 && added.length <= 40);
}

/** What a request and its file became. Lines of the file are those of the change, with what the spoil did to the file. */
interface Spoilt {
  readonly change: Change;
  /** The request's own lines. */
  readonly above: readonly string[];
  readonly removed: readonly string[];
  readonly added: readonly string[];
  readonly below: readonly string[];
  readonly shift?: number;
  readonly eol?: string;
  /** The request ends so many characters early, in its last line of context. */
  readonly cut?: number;
  readonly escaped?: boolean;
  /** Only a diff with numbers shows that something is missing; the request has no other form. */
  readonly isOnlyDiff?: boolean;
}

type Random = (below: number) => number;
type Spoil = (change: Change, random: Random) => Spoilt | undefined;

const as = (change: Change, lines: (line: string) => string): Spoilt => ({
  change,
  above: change.above.map(lines),
  removed: change.removed.map(lines),
  added: change.added.map(lines),
  below: change.below.map(lines),
});

/** The same change in a file whose context lines are other ones. */
const withContext = (change: Change, lines: (line: string) => string): Change => {
  const [above, below] = [change.above.map(lines), change.below.map(lines)];
  const file = [...change.file];
  file.splice(change.start, above.length, ...above);
  file.splice(change.start + above.length + change.removed.length, below.length, ...below);
  return { ...change, file, above, below };
};

const same = (line: string): string => line;
const indentOf = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? '';

export const SPOILS: Readonly<Record<string, Spoil>> = {
  none: (change) => as(change, same),
  'wrong line numbers': (change, random) => ({
    ...as(change, same),
    shift: random(2) === 0 ? 1 + random(60) : -1 - random(60),
  }),
  'lost trailing blanks': (change) => ({ ...as(change, same), change: withContext(change, (line) => `${line}  `) }),
  'added trailing blanks': (change) => {
    const spoilt = as(change, (line) => `${line} `);
    return { ...spoilt, added: change.added };
  },
  'line feeds for CRLF': (change) => ({ ...as(change, same), eol: '\r\n' }),
  'tabs for blanks': (change) => {
    const indents = [...change.above, ...change.removed, ...change.added, ...change.below].map(indentOf);
    const isEven = indents.every((indent) => /^(?: {2})*$/.test(indent));
    // Where only added lines have an indent, nothing in the request shows that it was spoilt.
    const isSeen = [...change.above, ...change.removed, ...change.below].some((line) => indentOf(line) !== '');
    return isEven && isSeen
      ? as(change, (line) => line.replace(/^ +/, (blanks) => '\t'.repeat(blanks.length / 2)))
      : undefined;
  },
  'lost indent': (change) => {
    const lines = [...change.above, ...change.removed, ...change.added, ...change.below].filter((line) => line !== '');
    const common = Math.min(...lines.map((line) => indentOf(line).length));
    return common > 0 && common < 99 ? as(change, (line) => line.slice(common)) : undefined;
  },
  'plain quotes': (change) => {
    const curl = (line: string): string =>
      line.replace(/'/g, '\u2019').replace(/"/g, '\u201d').replace(/ - /g, ' \u2013 ');
    const curled = withContext(change, curl);
    return curled.file.join('\n') === change.file.join('\n') ? undefined : { ...as(change, same), change: curled };
  },
  'written-out escapes': (change) => {
    const isPlain = [...change.above, ...change.removed, ...change.added, ...change.below].every(
      (line) => !line.includes('\\'),
    );
    return isPlain ? { ...as(change, same), escaped: true } : undefined;
  },
  'less context': (change) => ({ ...as(change, same), above: change.above.slice(1), below: change.below.slice(0, -1) }),
  'left-out line': (change, random) => {
    if (change.above.length < 3) return undefined;
    const at = 1 + random(change.above.length - 2);
    return { ...as(change, same), above: change.above.filter((_, row) => row !== at) };
  },
  'left-out edge line': (change, random) => {
    if (change.above.length < 2) return undefined;
    const [shift, above] = [random(2) === 0 ? 0 : -1, change.above.slice(0, -1)];
    return { ...as(change, same), above, shift, isOnlyDiff: true };
  },
  'invented line': (change, random) => {
    const at = random(change.above.length + 1);
    return {
      ...as(change, same),
      above: change.above.toSpliced(at, 0, `${indentOf(change.above[0] ?? '')}// the next step`),
    };
  },
  'stale text': (change, random) => {
    const words = [...change.above.keys()].filter((row) => /[a-z]{4}/.test(change.above[row] ?? ''));
    const row = words[random(Math.max(1, words.length))];
    if (row === undefined) return undefined;
    const stale = (line: string, at: number): string => (at === row ? line.replace(/[a-z]{4}/, 'older') : line);
    return { ...as(change, same), above: change.above.map(stale) };
  },
  'truncated end': (change) => {
    const last = change.below.at(-1) ?? '';
    return last.trim().length > 3 ? { ...as(change, same), cut: Math.ceil(last.trim().length / 2) } : undefined;
  },
};

function landing(name: string, spoil: string, spoilt: Spoilt): Landing {
  const {
    change,
    above,
    removed,
    added,
    below,
    shift = 0,
    eol = '\n',
    cut = 0,
    escaped = false,
    isOnlyDiff = false,
  } = spoilt;
  const text = (lines: readonly string[]): string => lines.map((line) => `${line}${eol}`).join('');
  const end = change.start + change.above.length + change.removed.length + change.below.length;
  const written = (middle: readonly string[]): string => {
    const plain = [...above, ...middle, ...below].join('\n');
    const whole = plain.slice(0, plain.length - cut);
    return escaped ? JSON.stringify(whole).slice(1, -1) : whole;
  };
  const [old, now] = [written(removed), written(added)];
  const file = text(change.file);
  const marked = [
    ...above.map((line) => ` ${line}`),
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
    ...below.map((line) => ` ${line}`),
  ];
  const body = marked.map((line) => `${line}\n`).join('');
  const [kept, line] = [
    above.length + below.length,
    Math.max(1, change.start + 1 + (change.above.length - above.length) + shift),
  ];
  const header = `@@ -${line},${kept + removed.length} +${line},${kept + added.length} @@\n`;
  const diff = `--- a/file\n+++ b/file\n${header}${cut === 0 ? body : body.slice(0, -1 - cut)}`;
  return {
    name,
    spoil,
    file,
    expected: text([
      ...change.file.slice(0, change.start),
      ...change.above,
      ...change.added,
      ...change.below,
      ...change.file.slice(end),
    ]),
    old,
    new: now,
    diff: escaped ? undefined : diff,
    chunk: escaped || isOnlyDiff || cut > 0 ? undefined : marked,
    isOnlyDiff,
    placeable: {
      edit: !isOnlyDiff && isPlaceable(file, escaped ? (JSON.parse(`"${old}"`) as string) : old, 'text'),
      diff:
        !escaped &&
        !isOnlyDiff &&
        isPlaceable(file, [...above, ...removed, ...below].join('\n').slice(0, cut === 0 ? undefined : -cut), 'lines'),
    },
  };
}

/** Nothing left of a text but what a reader goes by: no white space at all, and one kind of quotes and dashes. */
function normal(text: string): string {
  return text
    .replace(/\s+/g, '')
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/[\u2013\u2014]/g, '-');
}

export function normalLines(text: string): string {
  return text.split('\n').map(normal).join('\n');
}

/**
 * Whether a careful reader knows the place and the result: what the request shows of the file is in the file exactly
 * once, white space and kinds of quotes aside; as a text for an edit, as whole lines for a diff. A request with a line
 * or word that the file does not have is not placeable, because it may be about another version.
 */
function isPlaceable(file: string, old: string, unit: 'text' | 'lines'): boolean {
  if (unit === 'text') {
    const [all, part] = [normalLines(file), normalLines(old)];
    const at = all.indexOf(part);
    return part.trim() !== '' && at >= 0 && all.indexOf(part, at + 1) < 0;
  }
  const [lines, run] = [file.split('\n').map(normal), old.split('\n').map(normal)];
  return lines.filter((_, at) => run.every((line, row) => lines[at + row] === line)).length === 1;
}

/** Numbers that depend on the text alone. */
function randomFrom(seed: string): Random {
  let state = 2166136261;
  for (const character of seed) state = Math.imul(state ^ character.charCodeAt(0), 16777619);
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
