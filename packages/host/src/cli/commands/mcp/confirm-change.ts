/** Shows what would change in a file, asks, and writes it. Without a terminal only --yes writes. */
import { createInterface } from 'node:readline/promises';
import { type ConfigFile, type ConfigPlace, writeConfigFile } from '../../../mcp/install/config-file.ts';
import { lineDiff } from '../../../ops/line-diff.ts';
import { paint, plainText, printJson, printLine } from '../../../terminal/terminal.ts';

export interface ConfirmOptions {
  readonly yes?: boolean;
  readonly json?: boolean;
}

export interface Change {
  readonly place: ConfigPlace;
  readonly file: ConfigFile;
  readonly text: string;
}

/** The exit code: 0 written or nothing to do, 1 the answer was no, 2 there was no terminal to ask on. */
export async function confirmChange({ place, file, text }: Change, options: ConfirmOptions): Promise<0 | 1 | 2> {
  const diff = lineDiff(file.text, text, place.path);
  if (diff === '')
    return tell(options, { file: place.path, changed: false, written: false }, `unchanged ${place.path}`, 0);
  if (options.json !== true) showDiff(diff);
  const answer = options.yes === true ? 'yes' : await ask(`Write ${place.path}?`, options);
  const told = { file: place.path, changed: true, written: answer === 'yes', diff };
  if (answer === 'no_terminal') {
    process.stderr.write('nothing written: say --yes, or run it in a terminal\n');
    return tell(options, told, undefined, 2);
  }
  if (answer === 'no') return tell(options, told, 'nothing written', 1);
  writeConfigFile(place, file, text);
  return tell(
    options,
    told,
    `wrote ${place.path}${file.exists ? ` (before the first change: ${place.path}.bak)` : ''}`,
    0,
  );
}

export async function ask(question: string, { json }: ConfirmOptions): Promise<'yes' | 'no' | 'no_terminal'> {
  if (json === true || process.stdin.isTTY !== true || process.stdout.isTTY !== true) return 'no_terminal';
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${plainText(question)} [y/N] `)).trim()) ? 'yes' : 'no';
  } finally {
    terminal.close();
  }
}

export function showDiff(diff: string): void {
  for (const line of diff.split('\n')) {
    const color = line.startsWith('+')
      ? 'green'
      : line.startsWith('-')
        ? 'red'
        : line.startsWith('@@')
          ? 'cyan'
          : 'dim';
    printLine(paint(color, plainText(line)));
  }
}

function tell<Code extends 0 | 1 | 2>(
  { json }: ConfirmOptions,
  record: object,
  line: string | undefined,
  code: Code,
): Code {
  if (json === true) printJson(record, { compact: true });
  else if (line !== undefined) printLine(plainText(line));
  return code;
}
