/**
 * Output for people: colours only on a terminal, foreign text without control characters, notes on stderr so that
 * stdout stays parsable.
 */
import { styleText } from 'node:util';
import type { ErrorEntry } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';

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

/** What a runtime says about its registry and its journal, for people. */
export function showRuntimeWarning({ message, details = {} }: ErrorEntry): void {
  const { registry, next } = details;
  const place = typeof registry === 'string' && !message.startsWith(registry) ? `${registry} ` : '';
  showWarning(`${place}${message}${typeof next === 'string' ? ` (${next})` : ''}`);
}

/** Foreign text on one line, at any length. */
export function plainText(text: string): string {
  return safeText(text, Number.POSITIVE_INFINITY);
}

/** For JSON that JSON.stringify wrote: the escape means the same character. */
export function plainJson(json: string): string {
  return /^[\n -~]*$/.test(json) ? json : json.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escapeUnits);
}

function escapeUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
