/** Output for people: colours only on a terminal, notes on stderr so that stdout stays parsable. */
import { styleText } from 'node:util';
import { plainJson, plainText } from './plain-text.ts';

type Style = Parameters<typeof styleText>[0];

/** `styleText` itself honours NO_COLOR, FORCE_COLOR and whether the stream is a terminal. */
export function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

export function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Pretty for people, one line with `--json`. */
export function printJson(value: unknown, options: { readonly compact: boolean }): void {
  printLine(plainJson(JSON.stringify(value, null, options.compact ? 0 : 2)));
}

export function showWarning(message: string): void {
  showNote(styleText('yellow', 'warning', { stream: process.stderr }), message);
}

export function showError(message: string, next?: string): void {
  showNote(styleText('red', 'error', { stream: process.stderr }), message);
  if (next !== undefined) process.stderr.write(`  next: ${plainText(next)}\n`);
}

function showNote(label: string, message: string): void {
  process.stderr.write(`${label} ${plainText(message)}\n`);
}
