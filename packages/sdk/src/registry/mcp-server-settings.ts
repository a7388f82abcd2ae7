/** Mounted MCP servers in the form the runtime uses, and the level they need. */
import { type SideEffectLevel, sideEffectRank } from '../contracts/annotations.ts';
import type { McpServerSettings } from '../contracts/mcp-servers.ts';
import type { RegistryDocument } from './document.ts';

type Written = RegistryDocument['mcp_servers'];

export function mcpServerSettings(written: Written): Map<string, McpServerSettings> {
  return new Map(Object.entries(written).map(([name, server]) => [name, { ...server, prefix: server.prefix ?? name }]));
}

/** The highest level any of their tools may have; undefined when nothing is mounted. */
export function mcpServersLevel(written: Written): SideEffectLevel | undefined {
  const levels = Object.values(written).flatMap(({ side_effect_level, levels: own }) => [
    side_effect_level,
    ...Object.values(own),
  ]);
  return levels.toSorted((left, right) => sideEffectRank(right) - sideEffectRank(left))[0];
}

/** Nothing where none is mounted: registries written before the section existed keep their fingerprint. */
export function fingerprintedServers(written: Written): { readonly mcp_servers?: Written } {
  return Object.keys(written).length === 0 ? {} : { mcp_servers: written };
}
