/** The server that runs for a file, for questions that must not start one. */
import type { LanguageServer } from './language-server.ts';
import type { LspManager } from './language-servers.ts';
import { languageId } from './server-session.ts';

/** Of several for the file the one that runs. */
export function runningProvider(servers: LspManager, path: string): string | undefined {
  const running = new Set(servers.list().flatMap(({ provider, state }) => (state === 'running' ? [provider] : [])));
  return servers.providers.find((provider) => running.has(provider.name) && languageId(provider, path) !== undefined)
    ?.name;
}

export async function runningServer(servers: LspManager, path: string): Promise<LanguageServer | undefined> {
  const provider = runningProvider(servers, path);
  if (provider === undefined) return undefined;
  const server = await servers.serverOf(provider, path);
  // The project of this file may have a server of its own that does not run.
  return server.state === 'running' ? server : undefined;
}
