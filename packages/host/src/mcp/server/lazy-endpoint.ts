/** The MCP endpoint, loaded with the first request for it: a host that is never asked pays nothing. */
import type { McpEndpoint } from '../../http/route.ts';
import type { Host } from '../../sessions/create-host.ts';
import type { McpExtras } from './host-backend.ts';

export function lazyMcpEndpoint(host: Host, extras: McpExtras): McpEndpoint {
  let loading: Promise<McpEndpoint> | undefined;
  return {
    async fetch(request, principal) {
      loading ??= import('./http-endpoint.ts').then(({ createMcpEndpoint }) => createMcpEndpoint(host, extras));
      // Loading needs descriptors: a host that had none for a moment tries again with the next request.
      loading.catch(() => {
        loading = undefined;
      });
      return (await loading).fetch(request, principal);
    },
    async close() {
      await (await loading?.catch(() => undefined))?.close();
    },
  };
}
