/** A client's file that is left alone, and why. */
import { type JsonObject, ToolError } from '@tool-runtime/protocol';

export function configProblem(message: string, next: string, details: JsonObject = {}): ToolError {
  return new ToolError('E_VALIDATION_FAIL', message, { details: { ...details, next } });
}

/** `line:column`, from 1. */
export function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  return `${before.length}:${(before.at(-1) ?? '').length + 1}`;
}

export function notParsed(what: string, text: string, offset: number): ToolError {
  return configProblem(`Not understood at ${placeOf(text, offset)}: ${what}`, 'correct the file, then install again', {
    reason: 'unparsable',
  });
}
