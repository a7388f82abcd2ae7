/** The refusals of a route that follow from what it takes, so no route has to list them. */
import type { JsonObject } from '@tool-runtime/protocol';
import type { AnyRoute } from '../http/route.ts';

interface Refusal {
  readonly name: string;
  readonly description: string;
  readonly headers?: JsonObject;
}

const RETRY_AFTER: JsonObject = {
  'Retry-After': { description: 'Seconds to wait before another try', schema: { type: 'integer', minimum: 0 } },
};

const REFUSALS: Readonly<Record<number, Refusal>> = {
  400: { name: 'Invalid', description: 'The request, or a field of it, is not what it should be' },
  401: {
    name: 'TokenNeeded',
    description: 'The token is missing, unknown or expired',
    headers: { 'WWW-Authenticate': { description: 'Always a Bearer challenge', schema: { type: 'string' } } },
  },
  403: { name: 'NotAllowed', description: 'The token lacks the scope, or the Host or Origin header is not welcome' },
  404: { name: 'NotFound', description: 'There is nothing with this name, or it belongs to another client' },
  409: { name: 'Conflict', description: 'It was done before' },
  413: { name: 'TooLarge', description: 'The body is larger than the limit' },
  429: {
    name: 'LimitReached',
    description: 'The host has as many as it takes, or too many attempts with a wrong token came from here',
    headers: RETRY_AFTER,
  },
  500: { name: 'Failed', description: 'The host failed; its log says more' },
  503: { name: 'NotNow', description: 'The host is starting or shutting down', headers: RETRY_AFTER },
};

/** The statuses a route refuses with besides those it names itself. */
export function impliedRefusals(route: AnyRoute): readonly number[] {
  if (route.scope === 'open') return [403];
  const takesBody = route.body !== undefined || route.envelope !== undefined;
  const [named, sized] = [parameterNames(route.path).length > 0 ? [404] : [], takesBody ? [413] : []];
  return [400, 401, 403, ...named, ...sized, 429, 500];
}

/** `description` replaces the general one. */
export function refusalAnswer(status: number, schema: JsonObject, description?: string): JsonObject {
  const refusal = refusalOf(status);
  return {
    description: description ?? refusal.description,
    ...(refusal.headers === undefined ? {} : { headers: refusal.headers }),
    content: { 'application/json': { schema } },
  };
}

export function refusalName(status: number): string {
  return refusalOf(status).name;
}

function refusalOf(status: number): Refusal {
  const refusal = REFUSALS[status];
  if (refusal === undefined) throw new TypeError(`A route answers with a status that has no description: ${status}`);
  return refusal;
}

/** `/v1/sessions/{session_id}` → `['session_id']` */
export function parameterNames(path: string): readonly string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), (match) => match[1] ?? '');
}
