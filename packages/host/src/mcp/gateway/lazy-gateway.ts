/** The gateway as hosts mount it: none of its code is loaded until a registry mounts a server. */
import type { ToolSource } from '@tool-runtime/sdk';
import type { GatewayOptions } from './create-gateway.ts';

export function lazyGateway(options: GatewayOptions = {}): ToolSource {
  return {
    async open(ports) {
      if (ports.registry.mcpServers.size === 0) return { tools: [], warnings: [], close: async () => {} };
      const { createGateway } = await import('./create-gateway.ts');
      return createGateway(options).open(ports);
    },
  };
}
