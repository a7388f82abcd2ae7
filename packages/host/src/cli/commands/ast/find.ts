/** ast find: declarations by name, kind and file. */
import type { ToolResponse } from '@tool-runtime/protocol';
import type { Command } from 'commander';
import { printJson, printLine, showError } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withRuntimeOptions } from '../../command.ts';
import { wholeNumber } from '../../whole-number.ts';
import { type ListedNode, nodeLine } from './node-line.ts';
import { type AstSession, showFailure, showWarnings, withAstSession } from './with-session.ts';

interface FindOptions extends SharedOptions {
  readonly type?: string;
  readonly file?: string;
  readonly lang?: string;
  readonly exported?: boolean;
  readonly limit: number;
}

export function addFind(command: Command, done: Done): void {
  withRuntimeOptions(command.command('find').description('Declarations by name; * and ? are wildcards'))
    .argument('<names...>', 'names')
    .option('--type <kind>', 'fn, method, class, struct, enum, interface, type, const, var, field…')
    .option('--file <glob>', 'only in these files')
    .option('--lang <language>', 'only in this language')
    .option('--exported', 'only what is visible outside of its file')
    .option('-n, --limit <count>', 'how many of each name', wholeNumber('--limit', 1), 200)
    .action(async (names: string[], options: FindOptions) => {
      done(await withAstSession(options, (session) => find(names, options, session)));
    });
}

async function find(names: readonly string[], options: FindOptions, { call }: AstSession): Promise<number> {
  let found = 0;
  for (const name of names) {
    const response = await call('ast_query', { where: whereOf(name, options), limit: options.limit });
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
