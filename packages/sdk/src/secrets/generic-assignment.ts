/**
 * `name = value` where the name says secret and the value looks drawn at random, in any notation: program, JSON, YAML,
 * environment file, header, call. A guess, ranked below every format.
 *
 * The pattern starts at the word in the name and has a longest match, so that a try costs the same everywhere.
 */
import { looksRandom } from './randomness.ts';
import type { SecretMatch } from './secret-finding.ts';

export const NAME_ANCHORS: readonly string[] = ['passw', 'passphrase', 'pwd', 'secret', 'token', 'credential', 'key'];

/** A key of these is secret; most others open a map. */
const OWNERS = '(?:api|access|account|auth|encryption|master|private|secret|signing|storage)';
const WORD = `(?:passw|passphrase|pwd|secret|token|credential|(?<=${OWNERS}[_. -]?)key)`;
/** The rest of the name, whose last word may say that the value is about a secret and not one. */
const NAME = '[\\w.-]{0,48}';
const CLOSING = '\\\\{0,3}["\'`]?[\\])]?';
const TYPE = '(?:[ \\t]{0,4}:[ \\t]{0,4}[&*]?[\\w.<>\\[\\]]{1,32}(?:[ \\t]{0,4}\\|[ \\t]{0,4}\\w{1,32}){0,2})?';
const SPACE = '[ \\t]{0,16}';
const OPERATOR = `${SPACE}(?:={1,3}|:=|=>|:|\\?=|>)${SPACE}\\r?\\n?${SPACE}`;
/** A text in quotes may also be an argument or a default. */
const BEFORE_QUOTES = `(?:${OPERATOR}|${SPACE}(?:\\?\\?|\\|\\||,|\\()${SPACE})`;
const QUOTED = '[bfru]{0,2}(?<slashes>\\\\{0,3})(?<quote>["\'`])(?<quoted>[^\\s"\'`\\\\]{1,512})\\k<slashes>\\k<quote>';
/** Holds no operator, so that no value is read for more than the names before it, and is not part of an expression. */
const BARE = '(?<bare>[A-Za-z0-9+/_~!@#%^*-]{1,512}={0,2})(?![\\w(\\[.{"\'`$:]|<(?!\\/))';

export const ASSIGNMENT = new RegExp(
  `(?<name>${WORD}${NAME})${CLOSING}${TYPE}(?:${BEFORE_QUOTES}${QUOTED}|${OPERATOR}${BARE})`,
  'iy',
);

const ABOUT_A_SECRET =
  /(?:hash|hashed|digest|sha\d{0,3}|checksum|fingerprint|public|name|names|id|ids|url|uri|path|file|type|kind|length|size|count|limit|expires?|expiry|ttl|version|algorithm|format|pattern|prefix|ref|arn|address|label|title|hint|index|field|column|header)$/i;

export function genericAssignmentAt(text: string, offset: number): SecretMatch | undefined {
  ASSIGNMENT.lastIndex = offset;
  const groups = ASSIGNMENT.exec(text)?.groups;
  if (groups === undefined || ABOUT_A_SECRET.test(groups['name'] ?? '')) return undefined;
  const { quoted, bare, slashes = '', quote = '' } = groups;
  const value = quoted ?? bare ?? '';
  if (!looksRandom(value)) return undefined;
  const end = ASSIGNMENT.lastIndex - slashes.length - quote.length;
  return { kind: 'generic-assignment', start: end - value.length, end, value };
}
