/**
 * The narrowing of mounted MCP servers: a session can leave servers out and offer fewer of their tools, nothing else.
 *
 * It names a server alone, with the tools it keeps, or repeats the host's entry word for word.
 */
import type { JsonValue } from '@tool-runtime/protocol';
import type { McpServerSettings } from '../contracts/mcp-servers.ts';
import { intersectGlobs } from '../glob/glob-covers.ts';
import { canonicalJson } from '../platform/digest.ts';
import { shownNames } from '../text/shown-names.ts';
import { freezeMap } from './freeze.ts';
import type { Narrowing } from './narrowing.ts';

export function narrowMcpServers(narrowing: Narrowing): ReadonlyMap<string, McpServerSettings> {
  const { host, session, overreach } = narrowing;
  const kept = new Map<string, McpServerSettings>();
  for (const [name, own] of session.mcpServers) {
    const given = host.mcpServers.get(name);
    const path = `mcp_servers.${name}`;
    if (given === undefined || !(isReference(own) || isSame(own, given))) {
      overreach.push({ path, message: `MCP server is not one of the host's: ${name}` });
      continue;
    }
    const tools = given.tools.includes('*') ? own.tools : intersectGlobs(given.tools, own.tools);
    const added = own.tools.filter((glob) => !tools.includes(glob));
    if (added.length > 0) {
      overreach.push({ path: `${path}.tools`, message: `Tools are not offered by the host: ${shownNames(added)}` });
    }
    kept.set(name, { ...given, tools });
  }
  return freezeMap(kept);
}

function isReference({ command, url }: McpServerSettings): boolean {
  return command === undefined && url === undefined;
}

/** Apart from the tools, which are compared by themselves. */
function isSame({ tools: _, ...own }: McpServerSettings, { tools: __, ...given }: McpServerSettings): boolean {
  return canonicalJson(own as unknown as JsonValue) === canonicalJson(given as unknown as JsonValue);
}
