/** Asks the running host of a state folder: over its Unix socket, or over HTTP with the token of its token file. */
import { request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type ErrorMessage, errorMessageSchema, type JsonValue, ToolError } from '@tool-runtime/protocol';
import { findTokenFile } from '../auth/token-file.ts';
import { type FoundHost, readHostFile } from '../ops/host-file.ts';

export interface HostQuestion {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: JsonValue;
}

/** Throws ToolError: no host runs here, or what it refused. */
export async function askHost(state: string, question: HostQuestion): Promise<JsonValue> {
  const file = runningHost(state);
  const text = await exchange(file, question);
  return text === '' ? null : (JSON.parse(text) as JsonValue);
}

export function runningHost(state: string): FoundHost {
  const found = readHostFile(state);
  if (found?.isRunning === true) return found;
  throw new ToolError('E_INTERNAL', 'No host runs on this workspace', {
    details: { reason: 'no_host', next: 'start one: tool-runtime serve' },
  });
}

function exchange(file: FoundHost, { method, path, body }: HostQuestion): Promise<string> {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const options: RequestOptions = { method, path, headers: headersFor(file, payload) };
  return new Promise((resolve, reject) => {
    const outgoing = open(file, options);
    outgoing.on('error', (cause) => reject(unreachable(cause)));
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', (cause) => reject(unreachable(cause)));
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        if ((incoming.statusCode ?? 500) < 400) resolve(text);
        else reject(refusal(text));
      });
    });
    outgoing.end(payload);
  });
}

function open(file: FoundHost, options: RequestOptions) {
  if (file.socket !== undefined) return httpRequest({ ...options, socketPath: file.socket });
  const url = new URL(file.http ?? '');
  // The certificate of a host on this machine is the operator's own; its token goes nowhere else.
  return url.protocol === 'https:'
    ? httpsRequest({ ...options, host: url.hostname, port: url.port, rejectUnauthorized: false })
    : httpRequest({ ...options, host: url.hostname, port: url.port });
}

function headersFor(file: FoundHost, payload: string | undefined): Record<string, string> {
  const token = readableToken(file.tokenFile);
  return {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
  };
}

/** On the socket the kernel vouches for us where it can; the token helps where it cannot. */
function readableToken(path: string | undefined): string | undefined {
  try {
    return path === undefined ? undefined : findTokenFile(path)?.mainToken;
  } catch {
    return undefined; // Not ours to read: then the host says what is missing.
  }
}

function refusal(text: string): ToolError {
  const { code, message, details } = asErrorMessage(text);
  return new ToolError(code, message, details === undefined ? {} : { details });
}

function asErrorMessage(text: string): Pick<ErrorMessage, 'code' | 'message' | 'details'> {
  try {
    return errorMessageSchema.parse(JSON.parse(text));
  } catch {
    // Whatever answered there, it is no host of ours.
    return { code: 'E_INTERNAL', message: 'The host sent an invalid answer' };
  }
}

function unreachable(cause: Error): ToolError {
  return new ToolError('E_INTERNAL', 'The host does not answer', { details: { reason: 'host_unreachable' }, cause });
}
