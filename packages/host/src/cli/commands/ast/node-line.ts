/** A declaration on one line, as people read it. */
import { plainText } from '../../../terminal/plain-text.ts';
import { paint } from '../../../terminal/terminal.ts';

export interface ListedNode {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly container: string;
  readonly file: string;
  readonly line: number;
  readonly col: number;
  readonly end_line: number;
  readonly signature: string;
  readonly depth?: number;
}

/** `src/a.ts:3:1 fn load  export function load()  n…` */
export function nodeLine({ file, line, col, type, container, name, signature, id }: ListedNode): string {
  const place = paint('cyan', plainText(`${file}:${line}:${col}`));
  const title = `${type} ${paint('bold', plainText(container === '' ? name : `${container}.${name}`))}`;
  return `${place} ${title}  ${paint('dim', plainText(signature))}  ${paint('dim', id)}`;
}

/** Indented by depth, with the lines it spans. */
export function outlineLine({ depth = 0, line, end_line, type, name, id }: ListedNode): string {
  const lines = line === end_line ? `${line}` : `${line}-${end_line}`;
  return `${'  '.repeat(depth)}${type} ${paint('bold', plainText(name))} ${paint('dim', `${lines}  ${id}`)}`;
}
