/** Foreign text for a terminal and for finished JSON, where nothing may be cut. */
import { safeText } from '@tool-runtime/protocol/internal';

const UNSAFE_IN_JSON = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** On one line, at any length. */
export function plainText(text: string): string {
  return safeText(text, Number.POSITIVE_INFINITY);
}

/** For JSON that JSON.stringify wrote: the escape means the same character. */
export function plainJson(json: string): string {
  return json.replace(UNSAFE_IN_JSON, escapeUnits);
}

function escapeUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
