/** A header line or value without its credentials. What kind of credentials they are stays. */
import { REDACTED } from './find-values.ts';
import { isSecretHeader } from './secret-names.ts';

const SCHEME = /^(\s*(?:basic|bearer|digest|token|negotiate|apikey|aws4-hmac-sha256)\s+)(.+)$/is;
const LINE = /^(["']?)([A-Za-z][A-Za-z0-9-]{0,63})(\s*:\s*)(.+)$/s;

/** The values to hide of a secret header: whole, without its scheme, and the password inside a Basic one. */
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
export function redactHeader(text: string, onSecret: (value: string) => void = () => {}): string | undefined {
  const [, quote = '', name = '', colon = '', value = ''] = LINE.exec(text) ?? [];
  if (name === '' || value.startsWith('//') || !isSecretHeader(name)) return undefined;
  for (const secret of headerSecrets(value)) if (secret !== REDACTED) onSecret(secret);
  return `${quote}${name}${colon}${SCHEME.exec(value)?.[1] ?? ''}${REDACTED}`;
}
