/** Failures of an HTTP exchange in the runtime's words. URLs stay out of them: paths and queries may hold secrets. */
import { isToolError, ToolError } from '@tool-runtime/protocol';

export type HttpFailureReason = 'dns' | 'refused' | 'unreachable' | 'tls' | 'reset' | 'protocol';

const MESSAGES: Readonly<Record<HttpFailureReason, string>> = {
  dns: 'Host name could not be resolved',
  refused: 'Connection refused',
  unreachable: 'Host could not be reached',
  tls: 'TLS failed',
  reset: 'Connection broke before the answer was complete',
  protocol: 'Answer is not valid HTTP',
};

const CODES: readonly (readonly [RegExp, HttpFailureReason])[] = [
  [/^(?:ENOTFOUND|ENODATA|EAI_)/, 'dns'],
  [/^ECONNREFUSED$/, 'refused'],
  [/^(?:EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|ETIMEDOUT|EACCES|EPERM)$/, 'unreachable'],
  [/^(?:ECONNRESET|ECONNABORTED|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/, 'reset'],
  [/^(?:HPE_|Z_|ERR__|ERR_HTTP|ERR_ZLIB|ERR_BROTLI|ERR_ZSTD|ZSTD_)/, 'protocol'],
  [/^(?:ERR_TLS|ERR_SSL|EPROTO|CERT_|CRL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|INVALID_)/, 'tls'],
];

/** A ToolError (a refusal, a deadline) passes through as it is. */
export function httpFailure(thrown: unknown, host: string): ToolError {
  if (isToolError(thrown)) return thrown;
  const code = codeOf(thrown);
  const reason = CODES.find(([pattern]) => pattern.test(code))?.[1];
  if (reason === undefined)
    return new ToolError('E_HTTP', `Request failed: ${host}`, { ...details(host, 'other', code), cause: thrown });
  return new ToolError('E_HTTP', `${MESSAGES[reason]}: ${host}`, { ...details(host, reason, code), cause: thrown });
}

export function protocolFailure(what: string, host: string): ToolError {
  return new ToolError('E_HTTP', `${what}: ${host}`, details(host, 'protocol', ''));
}

function details(host: string, reason: string, code: string) {
  return { path: 'url', details: { reason, host, ...(code === '' ? {} : { code }) } };
}

/** Several addresses that all failed come as one error that holds the others. */
function codeOf(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return '';
  if ('code' in thrown && typeof thrown.code === 'string') return thrown.code;
  return thrown instanceof AggregateError ? codeOf(thrown.errors[0]) : '';
}
