/**
 * Private keys in PEM or PGP armour: any algorithm, encrypted or not, in JSON, in a diff, in a comment.
 *
 * A header alone is found in every program that handles keys, so some of the body has to follow. The value runs to the
 * end line, because an exception for a header would be an exception for every key.
 */
import type { SecretMatch } from './secret-finding.ts';

export const PRIVATE_KEY_HEADER = /-----BEGIN[ ]?(?:[A-Z0-9]{1,16}[ ]){0,4}PRIVATE KEY(?:[ ]BLOCK)?-----/y;
const DASHES = '-----';
const MAX_BODY = 16_384;
const FOOTER = /-----END[A-Z0-9 ]{0,80}-----/y;
/** Half of the shortest line that any tool writes; a long name in a program is shorter. */
const KEY_MATERIAL = /[A-Za-z0-9+/]{32}/;

export const PRIVATE_KEY_ANCHOR = '-----begin';

export function privateKeyAt(text: string, offset: number): SecretMatch | undefined {
  const header = endOf(PRIVATE_KEY_HEADER, text, offset);
  if (header === undefined) return undefined;
  // The next row of dashes may be the next header: a text full of headers is read once.
  const dashes = text.indexOf(DASHES, header);
  const body = Math.min(dashes === -1 ? text.length : dashes, header + MAX_BODY);
  if (!KEY_MATERIAL.test(text.slice(header, body))) return undefined;
  const end = endOf(FOOTER, text, body) ?? body;
  return { kind: 'private-key', start: offset, end, value: text.slice(offset, end) };
}

function endOf(pattern: RegExp, text: string, offset: number): number | undefined {
  pattern.lastIndex = offset;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
