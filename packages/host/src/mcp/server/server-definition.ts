/** What the server says about itself. */
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/server';

export const CAPABILITIES: ServerCapabilities = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

export const INSTRUCTIONS =
  "Every call is checked against the operator's policy and recorded. A refusal names the rule and what to do instead; repeating the call unchanged does not help.";

/** Lists change only when the operator changes the registry, which takes a restart; a minute is safe. */
export const LIST_HINT = { ttlMs: 60_000, cacheScope: 'private' } as const;

export function serverInfo(version: string): Implementation {
  return { name: 'tool-runtime', title: 'Tool Runtime', version };
}
