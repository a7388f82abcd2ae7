/** A list of names for a message: the first few, and how many more there are. */
import { safeText } from '@tool-runtime/protocol/internal';

const SHOWN_CHARACTERS = 200;

export function shownNames(names: readonly string[], separator = ', '): string {
  let shown = '';
  for (const [index, name] of names.entries()) {
    const longer = index === 0 ? safeText(name) : `${shown}${separator}${safeText(name)}`;
    // The first one is always named.
    if (index > 0 && longer.length > SHOWN_CHARACTERS) return `${shown}${separator}and ${names.length - index} more`;
    shown = longer;
  }
  return shown;
}
