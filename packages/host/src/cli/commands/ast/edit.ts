/** ast rename, rewrite and generate: edit code by its structure. */
import type { ToolResponse } from '@tool-runtime/protocol';
import type { Command } from 'commander';
import { paint, plainText, printJson, printLine, showWarning } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withRuntimeOptions } from '../../command.ts';
import { wholeNumber } from '../../option-values.ts';
import { findTarget } from './find-target.ts';
import { type AstSession, showFailure, showWarnings, withAstSession } from './with-session.ts';

interface RenameOptions extends SharedOptions {
  readonly dryRun?: boolean;
  readonly report?: boolean;
  readonly format?: boolean;
  readonly build?: boolean;
}

/** ast rename: a declaration and everything that means it. */
export function addRename(command: Command, done: Done): void {
  withRuntimeOptions(command.command('rename').description('Rename a declaration and all references to it'))
    .argument('<target>', 'name, id, or file:line:col of the declaration')
    .argument('<new-name>', 'its new name')
    .option('--dry-run', 'show the diff and change nothing')
    .option('--report', 'continue if some uses of the old name cannot be resolved, and list them')
    .option('--format', 'format the files it touches')
    .option('--build', 'undo the change if it breaks the build')
    .action(async (target: string, newName: string, options: RenameOptions) => {
      done(await withAstSession(options, (session) => rename({ target, newName }, options, session)));
    });
}

async function rename(
  { target, newName }: { readonly target: string; readonly newName: string },
  options: RenameOptions,
  session: AstSession,
): Promise<number> {
  const node = await findTarget(target, session);
  if (node === undefined) return 1;
  const response = await session.call('ast_edit', {
    operation: 'rename_symbol',
    target_node_id: node.id,
    new_name: newName,
    dry_run: options.dryRun === true,
    ...(options.report === true ? { on_residual: 'report' } : {}),
    ...(options.format === true ? { format_on_save: true } : {}),
    ...(options.build === true ? { validate_build: true } : {}),
  });
  return showEdit(response, options);
}

interface RewriteOptions extends SharedOptions {
  readonly lang?: string;
  readonly path?: readonly string[];
  readonly maxMatches?: number;
  readonly dryRun?: boolean;
}

/** ast rewrite: code that looks like a pattern, replaced. */
export function addRewrite(command: Command, done: Done): void {
  withRuntimeOptions(command.command('rewrite').description('Replace code that matches a pattern'))
    .argument('<pattern>', 'code with $NAME for one piece and $$$NAME for several')
    .argument('<replacement>', 'code with the same names')
    .option('--lang <language>', "language of the pattern (default: the registry's)")
    .option('--path <globs...>', 'only in these files')
    .option('--max-matches <count>', 'refuse to change more places than this', wholeNumber('--max-matches', 1))
    .option('--dry-run', 'show the diff and change nothing')
    .action(async (pattern: string, replacement: string, options: RewriteOptions) => {
      const args = {
        operation: 'rewrite',
        pattern,
        replacement,
        dry_run: options.dryRun === true,
        ...(options.lang === undefined ? {} : { language: options.lang }),
        ...(options.path === undefined ? {} : { paths: options.path }),
        ...(options.maxMatches === undefined ? {} : { max_matches: options.maxMatches }),
      };
      done(await withAstSession(options, async ({ call }) => showEdit(await call('ast_edit', args), options)));
    });
}

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

/** ast generate: builds or refreshes the index. */
export function addGenerate(command: Command, done: Done): void {
  withRuntimeOptions(command.command('generate').description('Parse source files and index what they declare'))
    .argument('[paths...]', 'files, folders or globs (default: everything)')
    .option('--lang <language>', 'only files in this language')
    .option('--full', 'parse unchanged files again')
    .option('--max-files <count>', 'maximum number of files', wholeNumber('--max-files', 1))
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

interface Edit {
  readonly edited: boolean;
  readonly files_touched: readonly string[];
  readonly edits: number;
  readonly confidence: string;
  readonly residual: readonly {
    readonly file: string;
    readonly line: number;
    readonly col: number;
    readonly kind: string;
  }[];
  readonly warnings: readonly string[];
  readonly diff?: string;
  readonly diagnostics?: readonly { readonly file: string; readonly line: number; readonly message: string }[];
}

/** The exit code. */
function showEdit(response: ToolResponse, options: SharedOptions): number {
  if (!response.ok) {
    showFailure(response, options);
    return 1;
  }
  const edit = response.data as unknown as Edit;
  showWarnings(response);
  if (options.json === true) printJson(response, { compact: true });
  else printEdit(edit);
  return 0;
}

function printEdit({
  edited,
  edits,
  files_touched,
  confidence,
  residual,
  warnings,
  diff,
  diagnostics = [],
}: Edit): void {
  if (diff !== undefined) for (const line of diff.split('\n')) printLine(diffLine(line));
  const count = `${edits} ${edits === 1 ? 'edit' : 'edits'} in ${files_touched.length} ${files_touched.length === 1 ? 'file' : 'files'}`;
  printLine(`${edited ? 'Done' : 'Would make'}: ${count} ${paint('dim', `(${confidence})`)}`);
  if (diff === undefined) for (const file of files_touched) printLine(`  ${plainText(file)}`);
  for (const { file, line, col, kind } of residual) showWarning(`left as it is: ${file}:${line}:${col} (${kind})`);
  for (const { file, line, message } of diagnostics) showWarning(`${file}:${line} ${message}`);
  for (const warning of warnings) showWarning(warning);
}

function diffLine(line: string): string {
  const text = plainText(line);
  if (line.startsWith('+') && !line.startsWith('+++')) return paint('green', text);
  if (line.startsWith('-') && !line.startsWith('---')) return paint('red', text);
  return line.startsWith('@@') ? paint('cyan', text) : text;
}
