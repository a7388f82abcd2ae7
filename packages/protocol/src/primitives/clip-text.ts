/** Text from outside, made safe for a message: quoted, control characters escaped, cut to a bounded length. */

export const MAX_ECHO_LENGTH = 40;

export function clipText(text: string): string {
  return text.length <= MAX_ECHO_LENGTH
    ? JSON.stringify(text)
    : JSON.stringify(`${text.slice(0, MAX_ECHO_LENGTH - 1)}…`);
}
