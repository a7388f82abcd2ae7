/** Answers straight to Node's response: no copy through web streams on the way. */
import type { ServerResponse } from 'node:http';
import type { ErrorMessage } from '@tool-runtime/protocol';
import type { RouteAnswer } from './route.ts';
import { headersOf, statusOf } from './status-of.ts';

/** Nothing here is for caches, frames or guessing browsers. */
const SAFE_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
} as const;

export function sendText(outgoing: ServerResponse, status: number, text: string, type = 'application/json'): void {
  if (outgoing.destroyed || outgoing.headersSent) return;
  outgoing.writeHead(status, {
    ...SAFE_HEADERS,
    'content-type': type,
    'content-length': Buffer.byteLength(text),
  });
  outgoing.end(text);
}

export function sendAnswer(outgoing: ServerResponse, answer: RouteAnswer): void {
  if (answer === 'sent') return;
  if (answer.text !== undefined) sendText(outgoing, answer.status, answer.text, answer.type);
  else if (answer.json !== undefined) sendText(outgoing, answer.status, JSON.stringify(answer.json), answer.type);
  else sendEmpty(outgoing, answer.status);
}

export function sendError(outgoing: ServerResponse, error: ErrorMessage): void {
  const status = statusOf(error);
  for (const [name, value] of Object.entries(headersOf(error))) outgoing.setHeader(name, value);
  sendText(outgoing, status, JSON.stringify(error));
}

function sendEmpty(outgoing: ServerResponse, status: number): void {
  if (outgoing.destroyed || outgoing.headersSent) return;
  outgoing.writeHead(status, SAFE_HEADERS);
  outgoing.end();
}
