/** ast outline: the declarations of files, in their order. */
import type { Command } from 'commander';
import { plainText } from '../../../terminal/plain-text.ts';
import { paint, printJson, printLine, showError } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withRuntimeOptions } from '../../command.ts';
import { type ListedNode, outlineLine } from './node-line.ts';
import { showFailure, withAstSession } from './with-session.ts';

const LIMIT = 10_000;

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
  const response = await call('ast_query', { where: { file_glob: file }, view: 'outline', limit: LIMIT });
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
