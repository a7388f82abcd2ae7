import type { Principal } from '../auth/principal.ts';

/** What serves `/mcp`: MCP has methods, bodies and errors of its own, and streams its answers. */
export interface McpEndpoint {
  /** The principal is proven already. */
  fetch(request: Request, principal: Principal): Promise<Response>;
  close(): Promise<void>;
}
