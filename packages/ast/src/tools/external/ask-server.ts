/** One read-only request to a language server. File names are checked and translated by the client, both ways. */
import { isJsonObject, type JsonObject, type JsonValue, ToolError } from '@tool-runtime/protocol';
import type { ToolContext } from '@tool-runtime/sdk';
import { requireRawMethod } from '../../lsp/raw-methods.ts';
import { resolveProviders } from '../../lsp/resolve-providers.ts';
import { WorkspaceUris } from '../../lsp/workspace-uris.ts';
import type { CodeServices } from '../../plugin/code-services.ts';
import { isGranted } from '../../plugin/granted-providers.ts';

export interface ServerCall {
  readonly provider: string;
  readonly method: string;
  readonly params: JsonValue;
}

export async function askServer(
  { provider, method, params }: ServerCall,
  services: CodeServices,
  { registry, signal }: ToolContext,
): Promise<JsonValue> {
  requireRawMethod(method);
  // The servers run for the whole runtime; a session may have fewer of them.
  const host = services.ports.registry.providers;
  const allowed = resolveProviders(registry.providers)
    .map(({ name }) => name)
    .filter((name) => isGranted(name, host, registry.providers));
  if (!allowed.includes(provider)) throw notConfigured(provider, allowed);
  const sent = withDocument(method, params);
  const path = documentPath(sent, services.ports.root);
  const servers = await services.servers(signal);
  const server = await servers.serverOf(provider, path);
  return (await server.raw(method, sent, { signal, ...(path === undefined ? {} : { path }) })) as JsonValue;
}

/** `{uri}` alone is what people write for requests about one document. */
function withDocument(method: string, params: JsonValue): JsonValue {
  if (!isJsonObject(params) || params['textDocument'] !== undefined || !method.startsWith('textDocument/'))
    return params;
  const { uri, ...rest } = params;
  return uri === undefined ? params : { ...rest, textDocument: { uri } };
}

/** Decides which of several projects the server is started for. Whether the file may be read is checked later. */
function documentPath(params: JsonValue, root: string): string | undefined {
  const document = isJsonObject(params) ? params['textDocument'] : undefined;
  const uri = isJsonObject(document ?? null) ? (document as JsonObject)['uri'] : undefined;
  if (typeof uri !== 'string') return undefined;
  if (!/^[a-z][a-z0-9+.-]*:/i.test(uri)) return uri;
  return new WorkspaceUris({ root }).toPath(uri) ?? undefined;
}

function notConfigured(provider: string, allowed: readonly string[]): ToolError {
  return new ToolError('E_POLICY', `Provider is not configured: ${provider.slice(0, 80)}`, {
    path: 'provider',
    details: {
      kind: 'policy_denial',
      retry: 'host_configuration_needed',
      reason: 'not_configured',
      next: `use one of ${allowed.join(', ')}, or add it to providers in the registry`,
    },
  });
}
