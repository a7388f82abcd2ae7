/**
 * Secrets that give themselves away by their shape. These are guesses, unlike the known values.
 *
 * A shape is one pattern that scans any text in linear time: after a long run it either matches or cannot be tried again
 * inside that run. Private key blocks are found by searching for their two ends, because a lazy pattern would scan to the
 * end for every beginning.
 */
import { REDACTED } from './find-values.ts';

/** Tokens that give themselves away by how they begin. */
const TOKENS = [
  'gh[pousr]_[A-Za-z0-9]{20,}', // GitHub
  'github_pat_[A-Za-z0-9_]{20,}',
  'gl(?:pat|ptt|rt|dt|soat|cbt)-[A-Za-z0-9_.-]{16,}', // GitLab
  'xox[abeoprs]-[A-Za-z0-9-]{10,}', // Slack
  'xapp-[A-Za-z0-9-]{10,}',
  'https://hooks\\.slack\\.com/services/[A-Za-z0-9/_-]+',
  'npm_[A-Za-z0-9]{30,}',
  'trt_[A-Za-z0-9_-]{20,}', // tokens of our own hosts
  '(?<![A-Z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])', // AWS key id
  '(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}', // OpenAI, Anthropic and others
  '(?:sk|pk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,}', // Stripe
  'AIza[A-Za-z0-9_-]{30,}', // Google
  'ya29\\.[A-Za-z0-9_-]{20,}',
  '(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}(?:\\.[A-Za-z0-9_-]*)?', // JWT
].join('|');

const SECRET_NAME =
  'passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|client[_-]?secret|credentials?';
/** Quoted, quoted inside a quoted text, or bare. */
const VALUE = '(?:"(?:[^"\\\\\\n]|\\\\.)*"?|\\\\"[^"\\n]*"?|\'[^\'\\n]*\'?|[^\\s"\'&,;)}\\]]+)';
/** What was taken out already is not a value. */
const FRESH = '(?!\\[redacted\\])';
const QUOTE = '\\\\?["\']';

/** What introduces a secret, kept, and the secret, replaced. */
const INTRODUCED: readonly RegExp[] = [
  // `token=…`, `--password=…`, `DB_PASSWORD = …`
  new RegExp(`((?:${SECRET_NAME})(?:${QUOTE})?[ \\t]{0,4}=[ \\t]{0,4})${FRESH}${VALUE}`, 'gi'),
  // `"token": "…"`, `password: …`; a bare `token:` is a word of compilers and stays.
  new RegExp(
    `((?:(?:${SECRET_NAME})${QUOTE}|passw(?:or)?d|secret|api[_-]?key)[ \\t]{0,4}:[ \\t]{0,4})${FRESH}${VALUE}`,
    'gi',
  ),
  /(authorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?!(?:[a-z]{1,8}[ \t]{1,4})?\[redacted\])(?:(?:bearer|basic|token|digest)[ \t]{1,4})?)[^\s"',;]+/gi,
  /(\bbearer[ \t]{1,4})[A-Za-z0-9._~+/=-]{12,}/gi,
  // `scheme://user:password@host`
  /(:\/\/[^\s/:@"']*:)(?!\[redacted\]@)[^\s/@"']+(?=@)/g,
];

const SHAPED = new RegExp(TOKENS, 'g');
const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_END = '-----END';
const DASHES = '-----';

/** One cheap look for anything that one of the patterns above needs; most text has none of it. */
const SUSPICIOUS =
  /gh[pousr]_|github_pat_|gl(?:pat|ptt|rt|dt|soat|cbt)-|xox|xapp-|hooks\.slack|npm_|trt_|A(?:KIA|SIA|BIA|CCA)|sk[-_]|[pr]k_|whsec_|AIza|ya29|eyJ|:\/\/|-----BEGIN|passw|pwd|passphrase|secret|token|key(?:\\?["'])?[ \t]{0,4}[:=]|credential|authorization|bearer/i;

/** What shells and programs say about folders: `PWD=/work`, `"OLDPWD": "/"`. A password begins otherwise. */
const FOLDER = /(?:^|[^A-Za-z0-9_])(?:OLD)?PWD(?:\\?["'])?[ \t]{0,4}[:=][ \t]{0,4}\\?["']?(?:[/~]|[A-Za-z]:[\\/])/;

export function withoutShapes(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  let clean = withoutPrivateKeys(text);
  for (const pattern of INTRODUCED) clean = clean.replace(pattern, withoutValue);
  return clean.replace(SHAPED, REDACTED);
}

function withoutValue(whole: string, before: string, at: number, text: string): string {
  const isFolder = /pwd/i.test(before) && FOLDER.test(text.slice(Math.max(0, at - 4), at + whole.length));
  return isFolder ? whole : before + REDACTED;
}

/** A block whose end was cut off is a key all the same. */
function withoutPrivateKeys(text: string): string {
  let clean = '';
  let from = 0;
  for (const begin of text.matchAll(KEY_BEGIN)) {
    if (begin.index < from) continue;
    clean += text.slice(from, begin.index) + REDACTED;
    from = endOfKey(text, begin.index + begin[0].length);
  }
  return from === 0 ? text : clean + text.slice(from);
}

function endOfKey(text: string, from: number): number {
  const end = text.indexOf(KEY_END, from);
  const close = end === -1 ? -1 : text.indexOf(DASHES, end + KEY_END.length);
  return close === -1 ? text.length : close + DASHES.length;
}
