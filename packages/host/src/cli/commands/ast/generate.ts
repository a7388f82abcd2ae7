/** ast generate: builds or refreshes the index. */
import type { ToolResponse } from '@tool-runtime/protocol';
import type { Command } from 'commander';
import { plainText } from '../../../terminal/plain-text.ts';
import { paint, printJson, printLine, showWarning } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withRuntimeOptions } from '../../command.ts';
import { wholeNumber } from '../../whole-number.ts';
import { showFailure, withAstSession } from './with-session.ts';

interface GenerateOptions extends SharedOptions {
  readonly lang?: string;
  readonly full?: boolean;
  readonly maxFiles?: number;
}

interface Report {
  readonly parsed_files: number;
  readonly unchanged: number;
  readonly errors: readonly { readonly path: string; readonly line: number; readonly message: string }[];
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  readonly truncated: boolean;
  readonly languages: Readonly<Record<string, number>>;
  readonly nodes: number;
}

export function addGenerate(command: Command, done: Done): void {
  withRuntimeOptions(command.command('generate').description('Parse source files and index what they declare'))
    .argument('[paths...]', 'files, folders or globs; everything when left out')
    .option('--lang <language>', 'only files in this language')
    .option('--full', 'parse unchanged files again')
    .option('--max-files <count>', 'files at most', wholeNumber('--max-files', 1))
    .action(async (paths: string[], options: GenerateOptions) => {
      const args = {
        paths,
        incremental: options.full !== true,
        ...(options.lang === undefined ? {} : { language: options.lang }),
        ...(options.maxFiles === undefined ? {} : { max_files: options.maxFiles }),
      };
      done(await withAstSession(options, async ({ call }) => show(await call('ast_generate', args), options)));
    });
}

function show(response: ToolResponse, options: GenerateOptions): number {
  if (!response.ok) {
    showFailure(response, options);
    return 1;
  }
  if (options.json === true) printJson(response, { compact: true });
  else printReport(response.data as unknown as Report);
  return 0;
}

function printReport({ parsed_files, unchanged, errors, skipped, truncated, languages, nodes }: Report): void {
  const counts = Object.entries(languages).sort((left, right) => right[1] - left[1]);
  const list = counts.map(([language, files]) => `${language} ${files}`).join(', ');
  printLine(
    `Parsed ${parsed_files} files, ${unchanged} unchanged; ${nodes} declarations${list === '' ? '' : ` (${list})`}`,
  );
  for (const { path, line, message } of errors) {
    printLine(`${paint('cyan', plainText(`${path}:${line}`))} ${plainText(message)}`);
  }
  for (const { path, reason } of skipped) printLine(paint('dim', `${plainText(path)} skipped: ${reason}`));
  if (truncated) showWarning('there are more files: raise --max-files, or name paths');
}
