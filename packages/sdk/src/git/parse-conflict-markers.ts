/**
 * Finds the conflicts git wrote into a file. Markers of one conflict have one length, seven or more; longer or shorter
 * ones inside it are content, as they are where a base itself had conflicts.
 */

export interface ConflictHunk {
  /** Line of the first marker, from 1. */
  readonly start_line: number;
  /** Line of the last marker. */
  readonly end_line: number;
  readonly ours: string;
  /** Null unless the repository writes it (merge.conflictStyle diff3 or zdiff3). */
  readonly base: string | null;
  readonly theirs: string;
}

interface OpenHunk {
  readonly start: number;
  readonly size: number;
  section: 'ours' | 'base' | 'theirs';
  readonly ours: string[];
  base: string[] | null;
  readonly theirs: string[];
}

export function parseConflictMarkers(text: string): readonly ConflictHunk[] {
  const hunks: ConflictHunk[] = [];
  let open: OpenHunk | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const begin = /^(<{7,})(?: .*)?\r?$/.exec(line)?.[1]?.length;
    if (begin !== undefined && (open === undefined || begin === open.size)) {
      open = { start: index + 1, size: begin, section: 'ours', ours: [], base: null, theirs: [] };
    } else if (open !== undefined && takeLine(open, line) === 'end') {
      hunks.push(closed(open, index + 1));
      open = undefined;
    }
  }
  return hunks;
}

function takeLine(open: OpenHunk, line: string): 'end' | 'more' {
  if (open.section === 'ours' && isMarker(line, '|', open.size)) {
    open.section = 'base';
    open.base = [];
  } else if (open.section !== 'theirs' && isMarker(line, '=', open.size)) open.section = 'theirs';
  else if (open.section === 'theirs' && isMarker(line, '>', open.size)) return 'end';
  else (open.section === 'base' ? (open.base ?? []) : open[open.section]).push(`${line}\n`);
  return 'more';
}

/** Only the middle marker has no label after it. */
function isMarker(line: string, sign: string, size: number): boolean {
  const marker = sign.repeat(size);
  if (!line.startsWith(marker)) return false;
  const rest = line.slice(size);
  return rest === '' || rest === '\r' || rest.startsWith(' ');
}

function closed(open: OpenHunk, end: number): ConflictHunk {
  return {
    start_line: open.start,
    end_line: end,
    ours: open.ours.join(''),
    base: open.base?.join('') ?? null,
    theirs: open.theirs.join(''),
  };
}
