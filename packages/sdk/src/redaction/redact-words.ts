/**
 * Removes secrets from a list of arguments: values of secret options, headers, assignments and URLs.
 *
 * The one place that decides this, for whatever shows or records a command: the rest of it stays readable.
 */
import { REDACTED } from './find-values.ts';

/** Hears the values that were taken out. */
export type OnSecret = (value: string) => void;

const HEADER_OPTION = /^(?:-H|--?(?:proxy-)?headers?)$/;
const COOKIE_OPTION = /^--cookie$/;
const PAIR_OPTION = /^--(?:proxy-)?(?:user|auth|basic-auth|userpwd)$/;
/** Options that only refer to a secret: a file, or a name in a store. */
const NOT_A_VALUE =
  /^--?(?:no|without|with|show|print|generate|create|list|get|delete|revoke|rotate|ask|prompt|require)-/;
/** After `--secret` and `--auth` often comes a name: hidden, but too short to search for elsewhere. */
const UNSURE_OPTION = /^--?(?:secret|auth|pat|sig|credentials?)$/;
const ASSIGNMENT = /^(-{0,2}[A-Za-z_][\w.:[\]-]*)(=)(.*)$/s;

/**
 * Short options whose value is a secret, by program. Long ones are recognised by their name. What the value is: a
 * secret, `user:password`, a header, a cookie, or `pass:secret` as openssl writes it.
 */
type ValueKind = 'secret' | 'pair' | 'header' | 'pass';

interface ProgramOptions {
  /** The value is the next word, or the rest of this one. */
  readonly options?: Readonly<Record<string, ValueKind>>;
  /** The value is the rest of this word; alone the option asks for it. */
  readonly attached?: readonly string[];
}

const PASSWORD_P: ProgramOptions = { options: { '-p': 'secret' } };
const CURL: ProgramOptions = {
  options: { '-u': 'pair', '-U': 'pair', '-H': 'header', '-b': 'secret', '--user': 'pair', '--proxy-user': 'pair' },
};
const OPENSSL: ProgramOptions = {
  options: { '-passin': 'pass', '-passout': 'pass', '-pass': 'pass', '-k': 'secret', '-K': 'secret' },
};
const HTTPIE: ProgramOptions = { options: { '-a': 'pair' } };
const MYSQL: ProgramOptions = { attached: ['-p'] };
const ZIP: ProgramOptions = { options: { '-P': 'secret' } };
const PACKER: ProgramOptions = { attached: ['-p'] };
const LDAP: ProgramOptions = { options: { '-w': 'secret' } };
const MOSQUITTO: ProgramOptions = { options: { '-P': 'secret' } };

const PROGRAM_OPTIONS: ReadonlyMap<string, ProgramOptions> = new Map(
  Object.entries({
    curl: CURL,
    wget: { options: { '--user': 'secret', '--header': 'header' } },
    http: HTTPIE,
    https: HTTPIE,
    xh: HTTPIE,
    sshpass: PASSWORD_P,
    docker: PASSWORD_P,
    podman: PASSWORD_P,
    buildah: PASSWORD_P,
    skopeo: PASSWORD_P,
    nerdctl: PASSWORD_P,
    oras: PASSWORD_P,
    crane: PASSWORD_P,
    az: PASSWORD_P,
    twine: PASSWORD_P,
    oc: PASSWORD_P,
    cf: PASSWORD_P,
    useradd: PASSWORD_P,
    usermod: PASSWORD_P,
    mysql: MYSQL,
    mysqladmin: MYSQL,
    mysqldump: MYSQL,
    mariadb: MYSQL,
    'mariadb-dump': MYSQL,
    mongo: PASSWORD_P,
    mongosh: PASSWORD_P,
    mongodump: PASSWORD_P,
    'redis-cli': { options: { '-a': 'secret' } },
    sqlcmd: { options: { '-P': 'secret' } },
    smbclient: { options: { '-U': 'pair' } },
    lftp: { options: { '-u': 'pair' } },
    openssl: OPENSSL,
    'ssh-keygen': { options: { '-N': 'secret', '-P': 'secret' } },
    zip: ZIP,
    unzip: ZIP,
    '7z': PACKER,
    '7za': PACKER,
    rar: PACKER,
    unrar: PACKER,
    ldapsearch: LDAP,
    ldapadd: LDAP,
    ldapmodify: LDAP,
    mosquitto_pub: MOSQUITTO,
    mosquitto_sub: MOSQUITTO,
  } satisfies Record<string, ProgramOptions>),
);

const SCHEME = /^(\s*(?:basic|bearer|digest|token|negotiate|apikey|aws4-hmac-sha256)\s+)(.+)$/is;
const LINE = /^(["']?)([A-Za-z][A-Za-z0-9-]{0,63})(\s*:\s*)(.+)$/s;

/** With a password, or alone where the web would take it for a token. */
const PASSWORD = /([a-z][a-z0-9+.-]{0,20}:\/\/[^\s/?#:@"']*:)([^\s/?#@"']+)(?=@)/gi;
const LONE_USER = /(https?:\/\/)([^\s/?#:@"']+)(?=@)/gi;
/** As in a query or a fragment; the name decides. */
const PARAMETER = /([?&#;])([A-Za-z0-9_.[\]-]{1,64})=([^\s&#;"']+)/g;
type OnUrlSecret = (value: string, isCredential: boolean) => void;

const URL_NAMES = /^(?:key|sig|code|session|sid|x-amz-(?:signature|security-token|credential))$/i;

export function redactWords(words: readonly string[], onSecret: OnSecret = () => {}): readonly string[] {
  let program: ProgramOptions = {};
  let expected: { readonly kind: ValueKind; readonly isSure: boolean } | undefined;
  return words.map((word) => {
    const taking = expected;
    expected = undefined;
    // An option in the place of a value is shown: an option must not be hidden from the person who approves the command.
    if (taking !== undefined && !/^--[A-Za-z]/.test(word)) {
      return redactValue(word, taking.kind, taking.isSure ? onSecret : () => {});
    }
    program = PROGRAM_OPTIONS.get(word.slice(word.lastIndexOf('/') + 1)) ?? program;
    const kind = optionKind(word, program);
    if (kind !== undefined) {
      expected = { kind, isSure: !UNSURE_OPTION.test(word) };
      return word;
    }
    return redactWord(word, program, onSecret);
  });
}

/** What kind of secret the next word is, if any. */
function optionKind(word: string, { options = {} }: ProgramOptions): ValueKind | undefined {
  if (!word.startsWith('-')) return undefined;
  if (Object.hasOwn(options, word)) return options[word];
  if (HEADER_OPTION.test(word)) return 'header';
  if (PAIR_OPTION.test(word)) return 'pair';
  if (COOKIE_OPTION.test(word)) return 'secret';
  const isLong = /^--?[A-Za-z][\w.-]{2,}$/.test(word) && !NOT_A_VALUE.test(word);
  return isLong && isSecretName(word) ? 'secret' : undefined;
}

function redactValue(value: string, kind: ValueKind, onSecret: OnSecret): string {
  if (value === '' || value === REDACTED) return value;
  if (kind === 'header') return redactHeader(value, onSecret) ?? redactUrls(value, onSecret);
  if (kind === 'pass') return value.startsWith('pass:') ? `pass:${hide(value.slice(5), onSecret)}` : value;
  if (kind === 'secret') return hide(value, onSecret);
  const at = value.search(/[:%,]/);
  return at === -1 ? value : value.slice(0, at + 1) + hide(value.slice(at + 1), onSecret);
}

function hide(value: string, onSecret: OnSecret): string {
  if (value === '') return value;
  onSecret(value);
  return REDACTED;
}

function redactWord(word: string, program: ProgramOptions, onSecret: OnSecret): string {
  const attached = redactAttached(word, program, onSecret);
  if (attached !== undefined) return attached;
  const [, name = '', equals = '', value = ''] = ASSIGNMENT.exec(word) ?? [];
  if (equals !== '') {
    const kind = assignedKind(name, program);
    if (kind !== undefined) return name + equals + redactValue(value, kind, onSecret);
  }
  return redactHeader(word, onSecret) ?? redactUrls(word, onSecret);
}

function assignedKind(name: string, program: ProgramOptions): ValueKind | undefined {
  const kind = optionKind(name, program);
  if (kind !== undefined || name.startsWith('--')) return kind;
  // `-Dpassword=…`, `-e TOKEN=…` as one word, `TOKEN=… program`, `http.extraHeader=…`.
  if (/header$/i.test(name)) return 'header';
  return isSecretVariable(name.replace(/^-[A-Za-z]?/, '')) ? 'secret' : undefined;
}

/** `-uname:password`, `-HAuthorization: …`, `-pPassword`. */
function redactAttached(word: string, { options = {}, attached = [] }: ProgramOptions, onSecret: OnSecret) {
  if (!/^-[A-Za-z]./.test(word)) return undefined;
  const flag = word.slice(0, 2);
  if (attached.includes(flag)) return flag + hide(word.slice(2), onSecret);
  const kind = Object.hasOwn(options, flag) ? options[flag] : flag === '-H' ? 'header' : undefined;
  return kind === undefined ? undefined : flag + redactValue(word.slice(2), kind, onSecret);
}

/**
 * A header line or value without its credentials. What kind of credentials they are stays. The values to hide of a
 * secret header: whole, without its scheme, and the password inside a Basic one.
 */
export function headerSecrets(value: string): readonly string[] {
  const [, scheme = '', credentials = ''] = SCHEME.exec(value) ?? [];
  if (credentials === '') return [value, ...cookieValues(value)];
  const decoded = /^\s*basic/i.test(scheme) ? Buffer.from(credentials, 'base64').toString('utf8') : '';
  const password = decoded.slice(decoded.indexOf(':') + 1);
  return [value, credentials, ...(decoded.includes(':') ? [decoded, password] : [])];
}

/** `a=1; b=2`: each is a secret of its own. */
function cookieValues(value: string): readonly string[] {
  return value.split(';').flatMap((pair) => (pair.includes('=') ? [pair.slice(pair.indexOf('=') + 1).trim()] : []));
}

/** Undefined when the text is not a header that holds a secret. */
function redactHeader(text: string, onSecret: (value: string) => void = () => {}): string | undefined {
  const [, quote = '', name = '', colon = '', value = ''] = LINE.exec(text) ?? [];
  if (name === '' || value.startsWith('//') || !isSecretHeader(name)) return undefined;
  for (const secret of headerSecrets(value)) if (secret !== REDACTED) onSecret(secret);
  return `${quote}${name}${colon}${SCHEME.exec(value)?.[1] ?? ''}${REDACTED}`;
}

/**
 * Takes credentials out of the URLs in a text: user information and secret query parameters. `onSecret` hears each
 * value that was taken out, as it was written, and whether it is a password by its place.
 */
export function redactUrls(text: string, onSecret: OnUrlSecret = () => {}): string {
  if (!text.includes('://') && !text.includes('=')) return text;
  const take = (before: string, value: string, isCredential: boolean): string => {
    if (value !== REDACTED) onSecret(value, isCredential);
    return before + REDACTED;
  };
  const bare = text
    .replace(PASSWORD, (_, before: string, value: string) => take(before, value, true))
    .replace(LONE_USER, (_, before: string, value: string) => take(before, value, true));
  return bare.replace(PARAMETER, (whole, separator: string, name: string, value: string) =>
    isSecretName(name) || URL_NAMES.test(name) ? take(`${separator}${name}=`, value, false) : whole,
  );
}

/** A run of quoted and unquoted pieces. */
const WORD = /(?:"(?:[^"\\]|\\.)*(?:"|$)|'[^']*(?:'|$)|\\.|[^\s"'\\;|&]+)+/gs;
const MAX_NESTING = 3;

/** A command as it may be shown: a list of words, or a line whose spelling stays as it was around the secrets. */
export function redactCommandLine(line: string, onSecret: OnSecret = () => {}, depth = 0): string {
  const found = [...line.matchAll(WORD)];
  const words = found.map(([raw]) => unquoted(raw));
  const shown = redactInside(redactWords(words, onSecret), depth);
  let clean = '';
  let from = 0;
  for (const [at, { 0: raw, index }] of found.entries()) {
    const word = shown[at] ?? '';
    clean += line.slice(from, index) + (word === words[at] ? raw : requoted(raw, word));
    from = index + raw.length;
  }
  return clean + line.slice(from);
}

/** Words that are commands themselves, as those after `sh -c`. What is in them is hidden here and looked for nowhere. */
function redactInside(words: readonly string[], depth = 0): readonly string[] {
  if (depth >= MAX_NESTING) return words;
  return words.map((word) => (/\s/.test(word) ? redactCommandLine(word, () => {}, depth + 1) : word));
}

export function redactArgv(words: readonly string[], onSecret: OnSecret = () => {}): readonly string[] {
  return redactInside(redactWords(words, onSecret));
}

function unquoted(raw: string): string {
  return raw.replace(/"((?:[^"\\]|\\.)*)(?:"|$)|'([^']*)(?:'|$)|\\(.)/gs, (_, double, single, escaped) =>
    double === undefined ? (single ?? escaped) : (double as string).replace(/\\(["\\$`])/g, '$1'),
  );
}

function requoted(raw: string, word: string): string {
  const quote = /["']/.exec(raw)?.[0];
  return quote === undefined ? word : quote + word + quote;
}

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

/**
 * Which names announce a secret: variables, options, headers, query parameters.
 *
 * A name is taken apart into words first (`githubToken`, `--github-token` and `GITHUB_TOKEN` are the same), so that
 * `AUTHOR` is not read as `AUTH` and `OLDPWD` not as a password.
 *
 * For options, headers, query parameters and members.
 */
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
