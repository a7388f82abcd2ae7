/** A word from outside, quoted for a message. */
import { safeText } from './safe-text.ts';

export const MAX_ECHO_LENGTH = 40;

export function clipText(text: string): string {
  return `"${safeText(text, MAX_ECHO_LENGTH).replaceAll('"', '\\"')}"`;
}
