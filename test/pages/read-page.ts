/**
 * A page of the documentation as its tests see it: fenced blocks, each with the comment that stands before it.
 *
 * `<!-- run -->` before a block of shell: it is run, and the block without a language right after it is what it prints.
 * `<!-- run: terminal -->`: the same on a pseudo-terminal. `<!-- shown: NAME -->`: NAME holds exactly this by then.
 * `<!-- elsewhere: NAME -->`: NAME, a file of the repository, runs these commands.
 * `<!-- file: NAME -->` before a block of any language: it is written to NAME first; `<!-- add: NAME -->` appends it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

export interface Block {
  readonly language: string;
  readonly text: string;
  /** Line of the page it begins on, from 1. */
  readonly line: number;
  /** The comment before it: `run`, `file: NAME`, `add: NAME`, or nothing. */
  readonly mark: string;
  /** The last heading above it. */
  readonly heading: string;
  /** Only empty lines lie between it and the block before. */
  readonly isNext: boolean;
}

interface Open {
  readonly language: string;
  readonly line: number;
  readonly isNext: boolean;
  readonly lines: string[];
}

export function readPage(name: string): string {
  return readFileSync(join(ROOT, name), 'utf8');
}

export function readBlocks(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let [mark, heading, isNext] = ['', '', false];
  let open: Open | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    if (open !== undefined) {
      if (line !== '```') open.lines.push(line);
      else {
        blocks.push({ ...open, text: `${open.lines.join('\n')}\n`, mark, heading });
        [open, mark, isNext] = [undefined, '', true];
      }
      continue;
    }
    if (line.startsWith('```')) open = { language: line.slice(3), line: index + 1, isNext, lines: [] };
    else if (/^<!-- (.+) -->$/.test(line)) mark = line.slice(5, -4);
    else if (line !== '') [mark, isNext] = ['', false];
    if (open === undefined && /^#+ /.test(line)) heading = line.replace(/^#+ /, '');
  }
  return blocks;
}
