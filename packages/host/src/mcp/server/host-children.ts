/** Children of a session of the host that were opened over MCP. They need no token: who opened them calls through us. */
import type { Principal } from '../../auth/principal.ts';
import type { Host } from '../../sessions/create-host.ts';
import type { HostChild, HostSession } from '../../sessions/session-table.ts';
import { unknownSession } from '../../sessions/unknown-session.ts';
import type { ClientIdentity, McpChildren } from './mcp-backend.ts';

export function hostChildren(
  host: Pick<Host, 'children'>,
  principal: Principal,
  session: (client: ClientIdentity) => Promise<HostSession>,
): McpChildren {
  const children = new Map<string, HostChild>();

  function find(id: string): HostChild {
    const found = children.get(id);
    if (found === undefined) throw unknownSession();
    return found;
  }

  return {
    async open(client, body) {
      const opened = await host.children.open(await session(client), body);
      const { child } = opened;
      children.set(child.id, opened);
      void child.ended.then(() => children.delete(child.id));
      return child;
    },
    find: (id) => find(id).served,
    end: async (id, { cancel }) => host.children.end(find(id), { cancel, by: principal.name }),
  };
}
