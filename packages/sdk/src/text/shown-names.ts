/** Names out of somebody's list as messages carry them: the first few, and how many there are besides. */
import { shownText } from './shown-text.ts';

const SHOWN_CHARACTERS = 200;

export function shownNames(names: readonly string[], separator = ', '): string {
  let shown = '';
  for (const [index, name] of names.entries()) {
    const longer = index === 0 ? shownText(name) : `${shown}${separator}${shownText(name)}`;
    // The first one is always named.
    if (index > 0 && longer.length > SHOWN_CHARACTERS) return `${shown}${separator}and ${names.length - index} more`;
    shown = longer;
  }
  return shown;
}
