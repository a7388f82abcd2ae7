/** The words of a message: its own, or those its rule keeps under the id it names, with the arguments put in. */
import { at, filledText, listOf, textOf } from '../../loose-json.ts';

export function messageText(message: unknown, rule: unknown): string {
  const id = textOf(at(message, 'id'));
  const kept = id === undefined ? undefined : at(rule, 'messageStrings', id);
  const words =
    filledText(at(message, 'text')) ??
    filledText(at(message, 'markdown')) ??
    filledText(at(kept, 'text')) ??
    filledText(at(rule, 'shortDescription', 'text')) ??
    '';
  const values = at(message, 'arguments');
  return Array.isArray(values) ? fillIn(words, listOf(values)) : words;
}

/** `{0}` is the first argument, doubled braces are braces. */
function fillIn(words: string, values: readonly unknown[]): string {
  return words.replace(/\{\{|\}\}|\{(\d{1,3})\}/g, (found, number: string | undefined) => {
    if (number === undefined) return found.charAt(0);
    return textOf(values[Number(number)]) ?? found;
  });
}
