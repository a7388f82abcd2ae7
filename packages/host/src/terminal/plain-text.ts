/** Text from tools, files and other programs, made safe for a terminal: what would steer it is shown instead. */

/** Control characters, line separators and the marks that turn the direction of writing. */
const STEERING = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
/** The same without what JSON.stringify escapes by itself or writes as layout. */
const STEERING_IN_JSON = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

const LAYOUT = new Set(['\n', '\t']);

/** On one line. */
export function plainText(text: string): string {
  return text.replace(STEERING, escapeCharacter);
}

/** The same with its lines and tabs as they are. */
export function plainLines(text: string): string {
  return text.replace(STEERING, (character) => (LAYOUT.has(character) ? character : escapeCharacter(character)));
}

/** For finished JSON, where the escape means the same character. */
export function plainJson(json: string): string {
  return json.replace(STEERING_IN_JSON, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
