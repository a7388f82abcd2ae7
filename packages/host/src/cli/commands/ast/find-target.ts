/** The one declaration a caller means: by id, by place, or by a name that only one declaration has. */
import { badUsage } from '../../../terminal/bad-usage.ts';
import { paint, plainText, printLine, showError } from '../../../terminal/terminal.ts';
import type { AstSession } from './with-session.ts';

const ID = /^n[0-9A-Za-z]{12}$/;
const PLACE = /^(.+?):(\d+)(?::(\d+))?$/;
const SHOWN = 20;

interface Found {
  readonly nodes: readonly (ListedNode & { readonly name_span: { readonly start: number; readonly end: number } })[];
}

/** Undefined when there is none, or more than one; which has been said then. */
export async function findTarget(target: string, session: AstSession): Promise<ListedNode | undefined> {
  if (ID.test(target)) return (await session.ask<Found>('ast_query', { node_id: target }))?.nodes[0];
  const [, file, line, col] = PLACE.exec(target) ?? [];
  if (file !== undefined && line !== undefined) {
    return atPlace({ file, line: Number(line), col: col === undefined ? undefined : Number(col) }, session);
  }
  const nodes = await named(target, session);
  if (nodes === undefined) return undefined;
  const [first, ...others] = nodes;
  if (first === undefined) showError(`No declaration has this name: ${target}`, 'run: tool-runtime ast find <name>');
  if (others.length === 0) return first;
  for (const node of nodes.slice(0, SHOWN)) printLine(nodeLine(node));
  showError(`Several declarations have this name: ${target}`, 'give an id, or file:line:col');
  return undefined;
}

/** The symbols of this name, without titles of tests. Undefined when the query failed. */
export async function named(name: string, session: AstSession): Promise<readonly ListedNode[] | undefined> {
  const found = await session.ask<Found>('ast_query', { where: { name_like: name }, detail: 'full' });
  return found?.nodes.filter(({ type }) => type !== 'test');
}

interface Place {
  readonly file: string;
  readonly line: number;
  readonly col: number | undefined;
}

/** The declaration whose name is there, else the innermost one that begins on the line. */
async function atPlace({ file, line, col }: Place, session: AstSession): Promise<ListedNode | undefined> {
  if (line < 1 || col === 0) throw badUsage('Lines and columns begin at 1');
  const found = await session.ask<Found>('ast_query', {
    where: { file_glob: file },
    view: 'outline',
    detail: 'full',
    limit: 10_000,
  });
  const onLine = (found?.nodes ?? []).filter((node) => node.line === line);
  const before = onLine.filter((node) => col === undefined || node.col <= col);
  const node = before.at(col === undefined ? 0 : -1);
  if (found !== undefined && node === undefined) {
    showError(`No declaration begins here: ${file}:${line}`, `run: tool-runtime ast outline ${file}`);
  }
  return node;
}

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
