/** Finds the text of an answer: at the place that the profile names, or where the protocol has it. */
import type { Message } from '../server/line-process.ts';

export function answerText(message: Message, place: string | undefined): string {
  const { result, error, data, errors, ...rest } = message;
  const answer = (result ?? { data, errors, error, ...rest }) as object;
  const places = place === undefined ? ['content.*.text', 'data', 'errors.*.message', 'error.message'] : [place];
  const found = places.flatMap((one) => valuesAt(answer, one.split('.')));
  const texts = found.filter((value) => value !== undefined && value !== null).map(asText);
  return texts.length > 0 ? texts.join('\n') : JSON.stringify(message);
}

function valuesAt(value: unknown, [name, ...rest]: readonly string[]): unknown[] {
  if (name === undefined) return [value];
  if (typeof value === 'string') return valuesAt(parsed(value), [name, ...rest]);
  if (typeof value !== 'object' || value === null) return [];
  if (name === '*') return Object.values(value).flatMap((entry) => valuesAt(entry, rest));
  return name in value ? valuesAt((value as Record<string, unknown>)[name], rest) : [];
}

/** A text that is JSON itself, as some servers answer. */
function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? undefined : value;
  } catch {
    return undefined;
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
