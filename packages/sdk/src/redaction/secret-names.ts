/**
 * Which names announce a secret: variables, options, headers, query parameters.
 *
 * A name is taken apart into words first (`githubToken`, `--github-token` and `GITHUB_TOKEN` are the same), so that
 * `AUTHOR` is not read as `AUTH` and `OLDPWD` not as a password.
 */

/** The last word of the name of a value that is a secret. */
const LAST_WORDS =
  /(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIALS?|APIKEY|AUTH|AUTHORIZATION|COOKIE|SIGNATURE|SIG|PAT|JWT|(?:API|ACCESS|PRIVATE|SECRET|SIGNING|ENCRYPTION|ACCOUNT|MASTER|SUBSCRIPTION|FUNCTIONS|AUTH|CLIENT|DEPLOY|SERVICE|SHARED|STORAGE|X)_KEY)$/;
/** Names without separators: PGPASSWORD, GITHUBTOKEN, sshpass. */
const GLUED = /(?:PASSWORD|PASSWD|PASSPHRASE|SSHPASS|SECRET|TOKEN|APIKEY)$/;
/** A word anywhere in the name of a variable: SECRET_KEY_BASE, TOKEN_FOR_CI, PRIVATE_DEPLOY_ID. */
const INNER_WORDS = /(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|APIKEY|API_KEY|PRIVATE|AUTH)(?=_)/;
/** What such a variable holds when it ends like this is where or how, not the secret. */
const HARMLESS_ENDS =
  /_(?:FILE|PATH|DIR|FOLDER|SOCK|NAME|USER|USERNAME|EMAIL|MODE|TYPE|METHOD|ALGORITHM|TTL|HOST|PORT)$/;
/** Keys in the sense of an id. */
const PUBLIC_KEYS = /(?:IDEMPOTENCY|CACHE|SURROGATE|PARTITION|SOCKET|ROUTING|PUBLIC|SORT)_KEY$/;
/** Shells keep folders in these. */
const FOLDERS = /^(?:OLD)?PWD$/;

/** For options, headers, query parameters and members. */
export function isSecretName(name: string): boolean {
  const words = wordsOf(name);
  return !FOLDERS.test(words) && (LAST_WORDS.test(words) || GLUED.test(words));
}

/** For variables, whose names are chosen to be read: the telling word may stand anywhere. */
export function isSecretVariable(name: string): boolean {
  const words = wordsOf(name);
  if (FOLDERS.test(words) || HARMLESS_ENDS.test(words)) return false;
  return LAST_WORDS.test(words) || GLUED.test(words) || INNER_WORDS.test(words) || /_KEY$/.test(words);
}

/** `X-Api-Key`, `Private-Token`, `Cookie`, `Authorization`, `Proxy-Authorization`. */
export function isSecretHeader(name: string): boolean {
  const words = wordsOf(name);
  return isSecretName(name) || (/(?:^|_)(?:KEY|SESSION|CREDENTIAL)$/.test(words) && !PUBLIC_KEYS.test(words));
}

function wordsOf(name: string): string {
  return name
    .replace(/^-+/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase();
}
