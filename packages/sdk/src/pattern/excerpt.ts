/** Text somebody wrote, made fit for a message. */

const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

function escapeCharacter(character: string): string {
  const escaped = JSON.stringify(character).slice(1, -1);
  return escaped === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : escaped;
}

/** Written text for use in a message: on one line, printable and short. */
export function excerpt(text: string): string {
  const cut = text.length > 80 ? `${text.slice(0, 77).toWellFormed()}...` : text;
  return cut.replace(UNPRINTABLE, escapeCharacter);
}
