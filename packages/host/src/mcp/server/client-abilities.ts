/** What the client of a request says it can be asked. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Questions } from './client-questions.ts';

/** 2026 clients say it with every request, 2025 clients once, when they connect. */
export function abilitiesOf(ctx: ServerContext, connected: ClientCapabilities | undefined): ClientCapabilities {
  const envelope = ctx.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  return ((envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined) ?? connected) || {};
}

export function canAnswer(questions: Questions, abilities: ClientCapabilities): boolean {
  return Object.values(questions).every(({ method, params }) => {
    if (method === 'elicitation/create') return canElicit(abilities, params?.['mode'] === 'url' ? 'url' : 'form');
    if (method === 'sampling/createMessage') return abilities.sampling !== undefined;
    return method === 'roots/list' && abilities.roots !== undefined;
  });
}

/** An empty object is the older way to say that forms can be shown. */
function canElicit({ elicitation }: ClientCapabilities, mode: 'form' | 'url'): boolean {
  if (elicitation === undefined) return false;
  if (mode === 'url') return elicitation.url !== undefined;
  return elicitation.form !== undefined || elicitation.url === undefined;
}
