/** What an edit did, or would do. */
import type { ToolResponse } from '@tool-runtime/protocol';
import { plainText } from '../../../terminal/plain-text.ts';
import { paint, printJson, printLine, showWarning } from '../../../terminal/terminal.ts';
import type { SharedOptions } from '../../command.ts';
import { showFailure, showWarnings } from './with-session.ts';

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
export function showEdit(response: ToolResponse, options: SharedOptions): number {
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
