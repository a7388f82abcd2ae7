/**
 * Signing in to a server that asks for it. The flow is the MCP client's; this keeps what it learns, in memory and for
 * one server, and hands the one step that needs a person to the embedding program. It may outlive a runtime.
 */
import { randomUUID } from 'node:crypto';
import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { ToolError } from '@tool-runtime/protocol';
import type { UpstreamTransport } from './open-transport.ts';

export interface SignIn {
  /** Where the authorization server sends the person back to. */
  readonly redirectUrl: string;
  /** A public document that describes this client, for servers that take its address as an id. */
  readonly clientMetadataUrl?: string;
  /** Registered beforehand; otherwise the client registers itself where it may. */
  readonly client?: StoredOAuthClientInformation;
  readonly scope?: string;
  /** Authorization servers that may be contacted besides the hosts of the registry's allowlist. */
  allows?(url: URL): boolean;
  /** Sends a person to the address and answers the one they came back to, with `code` in its query. */
  authorize(url: URL): Promise<URL>;
}

export interface Authorization {
  readonly provider: OAuthClientProvider;
  allows(url: URL): boolean;
  /** After a connection was refused: waits for the person and trades the code for a token. */
  finish(transport: UpstreamTransport): Promise<void>;
}

export function createAuthorization(signIn: SignIn): Authorization {
  const clients = new Map<string, StoredOAuthClientInformation>();
  const tokens = new Map<string, StoredOAuthTokens>();
  let latest: StoredOAuthTokens | undefined;
  let verifier = '';
  let state = '';
  let comingBack: Promise<URL> | undefined;
  let discovered: OAuthDiscoveryState | undefined;
  const keyOf = (context?: OAuthClientInformationContext): string => context?.issuer ?? '';
  const provider: OAuthClientProvider = {
    redirectUrl: signIn.redirectUrl,
    ...(signIn.clientMetadataUrl === undefined ? {} : { clientMetadataUrl: signIn.clientMetadataUrl }),
    clientMetadata: metadataOf(signIn),
    state() {
      state = randomUUID();
      return state;
    },
    clientInformation: (context) => clients.get(keyOf(context)) ?? registered(signIn, context),
    saveClientInformation: (information, context) => void clients.set(keyOf(context), information),
    tokens: (context) => (context === undefined ? latest : tokens.get(keyOf(context))),
    saveTokens(saved, context) {
      latest = saved;
      // Bound this sign-in to its server; the next one looks anew, because the server may have moved.
      discovered = undefined;
      tokens.set(keyOf(context), saved);
    },
    redirectToAuthorization(url) {
      comingBack = signIn.authorize(url);
      // Its failure is thrown where it is waited for.
      comingBack.catch(() => {});
    },
    saveCodeVerifier(value) {
      verifier = value;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState(found) {
      discovered = found;
    },
    discoveryState: () => discovered,
    invalidateCredentials(scope) {
      if (scope === 'all' || scope === 'tokens') {
        latest = undefined;
        tokens.clear();
      }
      if (scope === 'all' || scope === 'client') clients.clear();
      if (scope === 'all' || scope === 'discovery') discovered = undefined;
    },
  };
  return {
    provider,
    allows: (url) => signIn.allows?.(url) ?? false,
    async finish(transport) {
      if (comingBack === undefined || !('finishAuth' in transport)) return;
      const { searchParams } = await comingBack;
      comingBack = undefined;
      if (searchParams.get('state') !== state) throw notOurs();
      await transport.finishAuth(searchParams);
    },
  };
}

/** What was registered beforehand belongs to the first authorization server that asks for it, and to no other. */
function registered({ client }: SignIn, context?: OAuthClientInformationContext) {
  if (client === undefined || context?.issuer === undefined) return client;
  return client.issuer === undefined ? { ...client, issuer: context.issuer } : client;
}

function notOurs(): ToolError {
  return new ToolError('E_POLICY', 'Answer of the authorization server does not belong to this sign-in', {
    details: { reason: 'state_mismatch', next: 'sign in again' },
  });
}

function metadataOf({ redirectUrl, scope }: SignIn): OAuthClientMetadata {
  return {
    client_name: 'Tool Runtime',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'client_secret_post',
    ...(scope === undefined ? {} : { scope }),
  };
}
