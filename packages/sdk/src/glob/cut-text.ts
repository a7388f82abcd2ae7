/** Values inside messages: quoted, without control characters, and short. */

export const MAX_SHOWN = 80;

export function cutText(text: string): string {
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return JSON.stringify(cut.toWellFormed());
}
