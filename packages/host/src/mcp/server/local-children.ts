/** Children of the one session of a stdio server. */
import type { ChildSession } from '@tool-runtime/sdk';
import { toChildOptions } from '../../sessions/child-options.ts';
import { type ServedSession, type ServedSessionOptions, serveSession } from '../../sessions/served-session.ts';
import { unknownSession } from '../../sessions/unknown-session.ts';
import type { McpBackend, McpChildren } from './mcp-backend.ts';

interface OpenChild {
  readonly child: ChildSession;
  readonly served: ServedSession;
}

export function localChildren(session: McpBackend['session'], serving: ServedSessionOptions): McpChildren {
  const children = new Map<string, OpenChild>();

  function find(id: string): OpenChild {
    const found = children.get(id);
    if (found === undefined) throw unknownSession();
    return found;
  }

  return {
    async open(client, body) {
      const parent = await session(client);
      const child = await parent.session.openChild(toChildOptions(body));
      const served = serveSession(child, serving);
      children.set(child.id, { child, served });
      void child.ended.then(async () => {
        children.delete(child.id);
        // Over already; why it could not end well is for whoever ended it.
        await served.close().catch(() => undefined);
      });
      return child;
    },
    find: (id) => find(id).served,
    async end(id, { cancel }) {
      const { child } = find(id);
      return cancel ? child.cancel('asked for by its parent') : child.complete();
    },
  };
}
