/** Credentials travel encrypted: over plain http they are sent only to hosts the operator listed for it. */
import { policyDenial } from '../contracts/failures.ts';
import { isSecretHeader, isSecretName } from '../redaction/secret-names.ts';
import { hostAllowed } from './domain-entry.ts';

const FIELD = 'network.insecure_credentials';
const HTTP_PORT = '80';

/** Whether what is sent to this URL could be read on the way, and the operator did not allow it. */
export function needsEncryption(url: URL, insecureCredentials: readonly string[]): boolean {
  if (url.protocol !== 'http:') return false;
  return hostAllowed(insecureCredentials, `${url.hostname}:${url.port === '' ? HTTP_PORT : url.port}`) === undefined;
}

/** Throws E_POLICY for a header with a secret that would be sent in the clear. Its value is not named. */
export function judgeCredentials(
  url: URL,
  headers: ReadonlyMap<string, string>,
  insecureCredentials: readonly string[],
): void {
  if (!needsEncryption(url, insecureCredentials)) return;
  const header = [...headers.keys()].find(isSecretHeader);
  if (header !== undefined) throw unencrypted(`header ${header}`, url, `headers.${header}`);
}

/** The same for the query of a URL that a caller gave; what a server puts into a redirect is its own. */
export function judgeQuery(url: URL, insecureCredentials: readonly string[]): void {
  if (!needsEncryption(url, insecureCredentials)) return;
  const parameter = [...url.searchParams.keys()].find(isSecretName);
  if (parameter !== undefined) throw unencrypted(`query parameter ${parameter.slice(0, 64)}`, url, 'url');
}

export function unencrypted(what: string, { host }: URL, path: string) {
  return policyDenial(`Credentials would be sent over plain http (${what}): ${host}`, {
    path,
    details: {
      gate: 'egress',
      reason: 'insecure_credentials',
      field: FIELD,
      host,
      next: `use https, or have the operator list ${host} in ${FIELD}`,
    },
  });
}
