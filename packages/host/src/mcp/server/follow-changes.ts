/** Tells one 2025 client what a program announces: changed lists to everybody, changed resources to who asked. */
import type { Server, ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';

/** Ends with the returned function. */
export function followChanges(server: Server, changes: ServerEventBus): () => void {
  const watched = new Set<string>();
  server.setRequestHandler('resources/subscribe', async ({ params }) => {
    watched.add(params.uri);
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', async ({ params }) => {
    watched.delete(params.uri);
    return {};
  });
  return changes.subscribe((event) => {
    // A client that is gone hears nothing.
    tell(server, event, watched)?.catch(() => {});
  });
}

function tell(server: Server, event: ServerEvent, watched: ReadonlySet<string>): Promise<void> | undefined {
  if (event.kind === 'tools_list_changed') return server.sendToolListChanged();
  if (event.kind === 'prompts_list_changed') return server.sendPromptListChanged();
  if (event.kind === 'resources_list_changed') return server.sendResourceListChanged();
  return watched.has(event.uri) ? server.sendResourceUpdated({ uri: event.uri }) : undefined;
}
