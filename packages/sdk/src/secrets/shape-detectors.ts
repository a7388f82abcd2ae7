/**
 * Secrets found at an anchor by our own patterns: those that the rules of the dependency miss.
 *
 * Every pattern is sticky and has a longest match, so the cost of a try at an anchor is bounded whatever the text. A
 * pattern whose body may hold its own anchor begins at the start of a run only, or each anchor would read the rest of
 * the run.
 */
import type { Anchored } from './anchor-index.ts';
import type { SecretMatch } from './secret-finding.ts';

export const NAME_ANCHORS: readonly string[] = ['passw', 'passphrase', 'pwd', 'secret', 'token', 'credential', 'key'];

/** A key of these is secret; most others only access a map. */
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

const ASSIGNMENT = new RegExp(
  `(?<name>${WORD}${NAME})${CLOSING}${TYPE}(?:${BEFORE_QUOTES}${QUOTED}|${OPERATOR}${BARE})`,
  'iy',
);

const ABOUT_A_SECRET =
  /(?:hash|hashed|digest|sha\d{0,3}|checksum|fingerprint|public|name|names|id|ids|url|uri|path|file|type|kind|length|size|count|limit|expires?|expiry|ttl|version|algorithm|format|pattern|prefix|ref|arn|address|label|title|hint|index|field|column|header)$/i;

const PRIVATE_KEY_HEADER = /-----BEGIN[ ]?(?:[A-Z0-9]{1,16}[ ]){0,4}PRIVATE KEY(?:[ ]BLOCK)?-----/y;
const DASHES = '-----';
const MAX_BODY = 16_384;
const FOOTER = /-----END[A-Z0-9 ]{0,80}-----/y;
/** Half of the shortest line that any tool writes; a long name in a program is shorter. */
const KEY_MATERIAL = /[A-Za-z0-9+/]{32}/;

const PRIVATE_KEY_ANCHOR = '-----begin';

/**
 * `name = value` where the name says secret and the value looks drawn at random, in any notation: program, JSON, YAML,
 * environment file, header, call. A guess, ranked below every format.
 *
 * The pattern starts at the word in the name and has a longest match, so that a try costs the same everywhere.
 */
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

export interface ShapeDetector extends Anchored {
  /** What is tried at an anchor. */
  readonly pattern: RegExp;
  find(text: string, offset: number): SecretMatch | undefined;
}

/** An escape such as `\n` or `%20` ends in what looks like a part of the token. */
const RUN_START = '(?:(?<![A-Za-z0-9_-])|(?<=\\\\[nrt])|(?<=%[0-9A-Fa-f]{2}))';

export const SHAPE_DETECTORS: readonly ShapeDetector[] = [
  { anchors: [PRIVATE_KEY_ANCHOR], pattern: PRIVATE_KEY_HEADER, find: privateKeyAt },
  { anchors: NAME_ANCHORS, pattern: ASSIGNMENT, find: genericAssignmentAt },
  shape('google-api-key', ['aiza'], /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/y),
  shape('google-oauth-secret', ['gocspx-'], /GOCSPX-[A-Za-z0-9_-]{28}(?![A-Za-z0-9_-])/y),
  shape('stripe-key', ['sk_live_', 'rk_live_'], /[sr]k_live_[A-Za-z0-9]{16,256}/y),
  shape('stripe-webhook-secret', ['whsec_'], /whsec_[A-Za-z0-9+/]{24,128}={0,2}/y, looksRandom),
  shape(
    'gitlab-token',
    ['glptt-', 'gldt-', 'glrt-', 'glcbt-', 'glsoat-', 'glft-', 'glimt-', 'glagent-', 'gloas-'],
    /gl(?:ptt|dt|rt|cbt|soat|ft|imt|agent|oas)-[A-Za-z0-9_.-]{20,128}/y,
    looksRandom,
  ),
  shape(
    'slack-token',
    ['xoxs-', 'xoxe-', 'xoxe.', 'xoxc-', 'xoxd-'],
    /xox[secd][-.][A-Za-z0-9.%-]{20,512}/y,
    looksRandom,
  ),
  shape(
    'slack-webhook',
    ['hooks.slack.com/workflows/', 'hooks.slack.com/triggers/'],
    /hooks\.slack\.com\/(?:workflows|triggers)\/[A-Za-z0-9]{6,16}(?:\/[A-Za-z0-9]{6,64}){2,3}/iy,
  ),
  shape(
    'discord-webhook',
    ['discord.com/api/', 'discordapp.com/api/'],
    /discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/\d{15,22}\/[A-Za-z0-9_-]{50,100}/iy,
  ),
  shape('aws-access-key-id', ['abia', 'acca'], /(?<![A-Za-z0-9])A(?:BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])/y),
  shape('anthropic-key', ['sk-ant-'], /sk-ant-[a-z]{2,8}\d\d-[A-Za-z0-9_-]{64,128}/y),
  shape('bearer-token', ['bearer'], /bearer[ \t]{1,4}(?<value>[A-Za-z0-9._~+/=-]{16,512})/iy, looksRandom),
  shape(
    'jwt',
    ['eyj'],
    new RegExp(`${RUN_START}eyJ[A-Za-z0-9_-]{8,2048}\\.eyJ[A-Za-z0-9_-]{8,16384}\\.[A-Za-z0-9_-]{16,2048}`, 'y'),
    hasAlgorithm,
  ),
];

function shape(
  kind: string,
  anchors: readonly string[],
  pattern: RegExp,
  accepts: (value: string) => boolean = () => true,
): ShapeDetector {
  return {
    anchors,
    pattern,
    find(text, offset) {
      pattern.lastIndex = offset;
      const match = pattern.exec(text);
      if (match === null) return undefined;
      const value = match.groups?.['value'] ?? match[0];
      const end = offset + match[0].length;
      return accepts(value) ? { kind, start: end - value.length, end, value } : undefined;
    },
  };
}

/** The first part of a JSON Web Token is an object that names its algorithm. */
function hasAlgorithm(token: string): boolean {
  const header = Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString('latin1');
  return /"alg"\s{0,8}:/.test(header);
}

/**
 * Private keys in PEM or PGP armour: any algorithm, encrypted or not, in JSON, in a diff, in a comment.
 *
 * A header alone is found in every program that handles keys, so some of the body has to follow. The value runs to the
 * end line, because an exception for a header would be an exception for every key.
 */
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

const MIN_LENGTH = 12;
const MIN_BITS_A_CHARACTER = 3;
const MIN_DIGITS = 1;
const MIN_LETTERS = 2;
/** Neighbours of different class (small letter, capital, digit): words keep to one class for long. */
const MIN_CHANGES = 4;
const MIN_CHANGES_A_CHARACTER = 0.2;

const STAND_IN =
  /change[_-]?me|example|placeholder|your[_-]|dummy|sample|redacted|fake|mock|insert|replace|x{4}|\*{3}|\.{3}|12345678|abcdefg|deadbeef|0{8}/i;
/** Taken from elsewhere at run time, or not a value at all. */
const REFERENCE =
  /\$\{|\{\{|\$\(|<[^>]{0,64}>|%[A-Z_]{2,30}%|^\$[A-Za-z_]|process\.env|environ|getenv|env\.|:\/\/|^\.{0,2}\//i;

/** Whether a value looks as if a machine drew it, as opposed to words, paths, names and stand-ins. */
export function looksRandom(value: string): boolean {
  if (value.length < MIN_LENGTH) return false;
  const { digits, letters, changes } = countClasses(value);
  if (digits < MIN_DIGITS || letters < MIN_LETTERS) return false;
  if (changes < Math.max(MIN_CHANGES, value.length * MIN_CHANGES_A_CHARACTER)) return false;
  return bitsPerCharacter(value) >= MIN_BITS_A_CHARACTER && !STAND_IN.test(value) && !REFERENCE.test(value);
}

const DIGIT = 1;
const CAPITAL = 2;
const SMALL = 3;
const OTHER = 0;

function countClasses(value: string): { readonly digits: number; readonly letters: number; readonly changes: number } {
  let [digits, letters, changes, previous] = [0, 0, 0, OTHER];
  for (let at = 0; at < value.length; at++) {
    const current = classOf(value.charCodeAt(at));
    if (current === OTHER) continue;
    if (current === DIGIT) digits += 1;
    else letters += 1;
    // A word with a capital at its beginning is a word.
    if (previous !== OTHER && current !== previous && !(previous === CAPITAL && current === SMALL)) changes += 1;
    previous = current;
  }
  return { digits, letters, changes };
}

function classOf(code: number): number {
  if (code >= 48 && code <= 57) return DIGIT;
  if (code >= 65 && code <= 90) return CAPITAL;
  return code >= 97 && code <= 122 ? SMALL : OTHER;
}

/** Shannon entropy over the characters of the value itself. */
function bitsPerCharacter(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}
