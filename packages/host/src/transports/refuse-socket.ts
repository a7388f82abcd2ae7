/** Refusals where there is no response object to write to: bytes that are no request, and upgrades. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorMessage } from '@tool-runtime/protocol';
import { headersOf, statusOf } from '../http/status-of.ts';
import { endSocket } from './end-socket.ts';

export function refuseSocket(socket: Socket, error: ErrorMessage): void {
  const status = statusOf(error);
  const body = JSON.stringify(error);
  const headers = {
    ...headersOf(error),
    connection: 'close',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  };
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ].join('\r\n');
  endSocket(socket, `${head}\r\n\r\n${body}`);
}

/** What the parser of Node could not read, or did not get in time. */
export function refuseBytes(socket: Socket, thrown: NodeJS.ErrnoException): void {
  // While a request is being answered, anything written here would pass for its answer.
  if (isAnswering(socket)) socket.destroy();
  else refuseSocket(socket, { ...(BY_CODE[thrown.code ?? ''] ?? MALFORMED) });
}

/** Node keeps the response under way on the socket, and says so nowhere else. */
function isAnswering(socket: Socket): boolean {
  return ((socket as { _httpMessage?: unknown })._httpMessage ?? null) !== null;
}

const MALFORMED: ErrorMessage = {
  type: 'ErrorMessage',
  code: 'E_VALIDATION_FAIL',
  message: 'Bytes are not an HTTP request',
  request_id: null,
  details: { reason: 'malformed' },
};

const BY_CODE: Readonly<Record<string, ErrorMessage>> = {
  HPE_HEADER_OVERFLOW: {
    ...MALFORMED,
    message: 'Headers are larger than the limit',
    details: { reason: 'headers_too_large' },
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    ...MALFORMED,
    message: 'Request did not arrive in time',
    details: { reason: 'request_timeout' },
  },
};
