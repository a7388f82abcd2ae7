/** The first few names of a list as a message carries them. */
import { shownText } from '../text/shown-text.ts';

const SHOWN = 5;

/** `a, b and 3 more`, without characters that could forge a line. */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN).map(shownText).join(', ');
  return names.length > SHOWN ? `${shown} and ${names.length - SHOWN} more` : shown;
}
