/** ast outline, find and refs: look at declarations and their uses. */
import type { ToolResponse } from '@tool-runtime/protocol';
import type { Command } from 'commander';
import { paint, plainText, printJson, printLine, showError } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withRuntimeOptions } from '../../command.ts';
import { wholeNumber } from '../../option-values.ts';
import { findTarget, type ListedNode, named, nodeLine } from './find-target.ts';
import { type AstSession, showFailure, showWarnings, withAstSession } from './with-session.ts';

const MAX_LINES = 10_000;

/** ast outline: the declarations of files, in their order. */
export function addOutline(command: Command, done: Done): void {
  withRuntimeOptions(command.command('outline').description('The declarations of a file, or of all files of a glob'))
    .argument('<file>', 'file or glob')
    .action(async (file: string, options: SharedOptions) => {
      done(await withAstSession(options, (session) => outline(file, options, session)));
    });
}

async function outline(
  file: string,
  options: SharedOptions,
  { call }: Parameters<Parameters<typeof withAstSession>[1]>[0],
): Promise<number> {
  const response = await call('ast_query', {
    where: { file_glob: file },
    view: 'outline',
    detail: 'full',
    limit: MAX_LINES,
  });
  if (!response.ok) {
    showFailure(response, options);
    return 1;
  }
  const { nodes } = response.data as unknown as { nodes: readonly ListedNode[] };
  if (options.json === true) printJson(response, { compact: true });
  else printOutline(nodes);
  if (nodes.length === 0) showError(`No declarations: ${file}`, 'name a source file of the workspace');
  return nodes.length === 0 ? 1 : 0;
}

function printOutline(nodes: readonly ListedNode[]): void {
  const files = Map.groupBy(nodes, (node) => node.file);
  for (const [name, ofFile] of files) {
    if (files.size > 1) printLine(paint('cyan', plainText(name)));
    for (const node of ofFile) printLine(outlineLine(node));
  }
}

interface FindOptions extends SharedOptions {
  readonly type?: string;
  readonly file?: string;
  readonly lang?: string;
  readonly exported?: boolean;
  readonly limit: number;
}

/** ast find: declarations by name, kind and file. */
export function addFind(command: Command, done: Done): void {
  withRuntimeOptions(command.command('find').description('Declarations by name; * and ? are wildcards'))
    .argument('<names...>', 'names')
    .option('--type <kind>', 'fn, method, class, struct, enum, interface, type, const, var, field…')
    .option('--file <glob>', 'only in these files')
    .option('--lang <language>', 'only in this language')
    .option('--exported', 'only declarations visible outside their file')
    .option('-n, --limit <count>', 'how many of each name', wholeNumber('--limit', 1), 200)
    .action(async (names: string[], options: FindOptions) => {
      done(await withAstSession(options, (session) => find(names, options, session)));
    });
}

async function find(names: readonly string[], options: FindOptions, { call }: AstSession): Promise<number> {
  let found = 0;
  for (const name of names) {
    const response = await call('ast_query', { where: whereOf(name, options), detail: 'full', limit: options.limit });
    if (!response.ok) {
      showFailure(response, options);
      return 1;
    }
    found += print(response, options);
  }
  if (found === 0) showError(`Nothing found: ${names.join(', ')}`, 'use * as wildcard, such as *name*');
  return found === 0 ? 1 : 0;
}

function whereOf(name: string, { type, file, lang, exported }: FindOptions): object {
  return {
    name_like: name,
    ...(type === undefined ? {} : { type }),
    ...(file === undefined ? {} : { file_glob: file }),
    ...(lang === undefined ? {} : { language: lang }),
    ...(exported === undefined ? {} : { exported }),
  };
}

function print(response: ToolResponse, { json, limit }: FindOptions): number {
  const { nodes, truncated } = response.data as unknown as { nodes: readonly ListedNode[]; truncated: boolean };
  showWarnings(response);
  if (json === true) printJson(response, { compact: true });
  else for (const node of nodes) printLine(nodeLine(node));
  if (truncated && json !== true) showError(`There are more than ${limit}`, 'raise --limit, or narrow the search');
  return nodes.length;
}

interface Reference {
  readonly file: string;
  readonly line: number;
  readonly col?: number;
  readonly name: string;
  readonly kind: string;
  readonly test: boolean;
}

const MAX_REFS = 10_000;

/** ast refs: the uses of a declaration. */
export function addRefs(command: Command, done: Done): void {
  withRuntimeOptions(command.command('refs').description('References to a declaration'))
    .argument('<target>', 'name, id, or file:line:col of a declaration')
    .action(async (target: string, options: SharedOptions) => {
      done(await withAstSession(options, (session) => refs(target, options, session)));
    });
}

async function refs(target: string, options: SharedOptions, session: AstSession): Promise<number> {
  const asked = await question(target, session);
  if (asked === undefined) return 1;
  const response = await session.call('ast_query', { ...asked, view: 'references', detail: 'full', limit: MAX_REFS });
  if (!response.ok) {
    showFailure(response, options);
    return 1;
  }
  const {
    references,
    left_out: leftOut = [],
    nodes,
  } = response.data as unknown as {
    readonly references: readonly Reference[];
    readonly left_out?: readonly string[];
    readonly nodes: readonly object[];
  };
  if (options.json === true) printJson(response, { compact: true });
  else for (const one of references) printLine(referenceLine(one));
  if (references.length === 0) showError(nodes.length === 0 ? `Nothing found: ${target}` : `No references: ${target}`);
  if (options.json !== true) for (const line of leftOut) printLine(paint('dim', line));
  return references.length === 0 ? 1 : 0;
}

/** Several declarations of one name are asked about together: that says who calls any of them. */
async function question(target: string, session: AstSession): Promise<object | undefined> {
  const isName = /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(target) && !/^n[0-9A-Za-z]{12}$/.test(target);
  const nodes = isName ? await named(target, session) : undefined;
  if (isName && nodes === undefined) return undefined;
  if (nodes !== undefined && nodes.length !== 1) return { where: { name_like: target } };
  const node = nodes?.[0] ?? (await findTarget(target, session));
  return node === undefined ? undefined : { node_id: node.id };
}

function referenceLine({ file, line, col, kind, name, test }: Reference): string {
  const place = paint('cyan', plainText(`${file}:${line}${col === undefined ? '' : `:${col}`}`));
  return `${place} ${kind} ${plainText(name)}${test ? paint('dim', ' (test)') : ''}`;
}

/** Indented by depth, with the lines it spans. */
function outlineLine({ depth = 0, line, end_line, type, name, id }: ListedNode): string {
  const lines = line === end_line ? `${line}` : `${line}-${end_line}`;
  return `${'  '.repeat(depth)}${type} ${paint('bold', plainText(name))} ${paint('dim', `${lines}  ${id}`)}`;
}
