/** Sessions by plain requests, for clients that need more of them than calls. */
import type { ServeAddress } from '../../../packages/host/test/load/load-clients.ts';

export interface HttpSession {
  readonly id: string;
  readonly token: string;
}

/** A child's end is told with what it used; a session may also be gone already. */
const CLOSED: ReadonlySet<number> = new Set([200, 204, 404]);
const PATIENCE_MS = 20_000;

export async function openSession(serve: ServeAddress, body: object): Promise<HttpSession> {
  return post(serve, '/v1/sessions', serve.token, body);
}

/** A session that has all its parent has, and no more. */
export async function openChild(serve: ServeAddress, parent: HttpSession): Promise<HttpSession> {
  const body = { agent_id: 'chaos-child', tools: { type: 'inherit_allowlist' } };
  return post(serve, `/v1/sessions/${parent.id}/children`, parent.token, body);
}

async function post(serve: ServeAddress, path: string, token: string, body: object): Promise<HttpSession> {
  const response = await ask(serve, path, { method: 'POST', token, body: JSON.stringify(body) });
  const text = await response.text();
  if (response.status !== 201) throw new TypeError(`No session: ${response.status} ${text.slice(0, 300)}`);
  const { session_id, token: own } = JSON.parse(text) as { session_id: string; token: string };
  return { id: session_id, token: own };
}

export async function closeSession(serve: ServeAddress, { id, token }: HttpSession): Promise<void> {
  const { status } = await ask(serve, `/v1/sessions/${id}?mode=cancel`, { method: 'DELETE', token });
  if (!CLOSED.has(status)) throw new TypeError(`Session did not close: ${status}`);
}

export function ask(
  { url }: ServeAddress,
  path: string,
  { method, token, body }: { readonly method: string; readonly token: string; readonly body?: string },
): Promise<Response> {
  return fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
}
