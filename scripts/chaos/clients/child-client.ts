/** A session and a child of it; calls are made in the child, as single requests. */
import { addressed, type LoadClient } from '../../../packages/host/test/load/load-clients.ts';
import { ask, closeSession, openChild, openSession } from './http-session.ts';
import type { McpClientOptions } from './mcp-client.ts';

export async function openChildClient({ book, serve, workspace }: McpClientOptions): Promise<LoadClient> {
  const parent = await openSession(serve, { workspace });
  const child = await openChild(serve, parent);
  book.opened(child.id);
  return {
    transport: 'http',
    sessionId: child.id,
    closed: new Promise(() => {}),
    send(text, requestId) {
      ask(serve, '/v1/call', { method: 'POST', token: child.token, body: text })
        .then((response) => response.text())
        .then(
          (answer) => (requestId === '' ? undefined : book.hear(addressed(answer, requestId))),
          () => book.lose((call) => call.requestId === requestId),
        );
    },
    async close() {
      await closeSession(serve, child);
      await closeSession(serve, parent);
    },
  };
}
