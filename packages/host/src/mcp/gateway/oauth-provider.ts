/**
 * Signing in to a server that asks for it. The flow is the MCP client's; this keeps what it learns, in memory and for
 * one server, and gives the one step that needs a person to the embedding program. It may outlive a runtime.
 */
import { randomUUID } from 'node:crypto';
import {
  createPrivateKeyJwtAuth,
  DpopSession,
  type OAuthClientInformationContext,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import type { UpstreamTransport } from './open-transport.ts';

interface AnySignIn {
  readonly scope?: string;
  /** Binds tokens to a key of this process (DPoP, RFC 9449), so that a stolen one is of no use. Default: false. */
  readonly dpop?: boolean;
  /** Authorization servers that may be contacted in addition to the hosts of the registry's allowlist. */
  allows?(url: URL): boolean;
}

/** A person signs in. */
export interface PersonSignIn extends AnySignIn {
  /** Where the authorization server sends the person back to. */
  readonly redirectUrl: string;
  /** A public document that describes this client, for servers that take its address as an id. */
  readonly clientMetadataUrl?: string;
  /** Registered beforehand; otherwise the client registers itself where it may. */
  readonly client?: StoredOAuthClientInformation;
  /** Sends a person to the address and answers the one they came back to, with `code` in its query. */
  authorize(url: URL): Promise<URL>;
}

/** The program signs in by itself, with the client credentials grant. */
export interface ProgramSignIn extends AnySignIn {
  /** The one authorization server that is sent the credential; undefined: the one that the server names. */
  readonly issuer?: string;
  readonly clientId: string;
  /** A secret, or a private key (PEM, PKCS #8) that signs a statement of who it is. */
  readonly credential: { readonly secret: string } | { readonly privateKey: string; readonly alg: string };
}

export type SignIn = PersonSignIn | ProgramSignIn;

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
  const proofs = signIn.dpop === true ? DpopSession.create() : undefined;
  // Its failure is thrown where it is waited for.
  proofs?.catch(() => {});
  const provider: OAuthClientProvider = {
    ...('clientId' in signIn ? asProgram(signIn) : asPerson(signIn)),
    ...(proofs === undefined ? {} : { dpop: () => proofs }),
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
      if ('clientId' in signIn) throw needsPerson();
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

type Role = Pick<
  OAuthClientProvider,
  'redirectUrl' | 'clientMetadata' | 'clientMetadataUrl' | 'prepareTokenRequest' | 'addClientAuthentication'
>;

function asPerson(signIn: PersonSignIn): Role {
  const { redirectUrl, clientMetadataUrl } = signIn;
  return {
    redirectUrl,
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
    clientMetadata: metadataOf(signIn),
  };
}

function asProgram({ clientId, credential, scope }: ProgramSignIn): Role {
  const isSecret = 'secret' in credential;
  return {
    redirectUrl: undefined,
    clientMetadata: {
      client_name: 'Tool Runtime',
      redirect_uris: [],
      grant_types: ['client_credentials'],
      token_endpoint_auth_method: isSecret ? 'client_secret_basic' : 'private_key_jwt',
      ...(scope === undefined ? {} : { scope }),
    },
    prepareTokenRequest(asked = scope) {
      const grant = new URLSearchParams({ grant_type: 'client_credentials' });
      if (asked !== undefined) grant.set('scope', asked);
      return grant;
    },
    ...(isSecret
      ? {}
      : { addClientAuthentication: createPrivateKeyJwtAuth({ issuer: clientId, subject: clientId, ...credential }) }),
  };
}

/** What was registered beforehand belongs to the first authorization server that asks for it, and to no other. */
function registered(signIn: SignIn, context?: OAuthClientInformationContext) {
  if ('clientId' in signIn) requireIssuer(signIn, context);
  const client = 'clientId' in signIn ? ownClient(signIn) : signIn.client;
  if (client === undefined || context?.issuer === undefined) return client;
  return client.issuer === undefined ? { ...client, issuer: context.issuer } : client;
}

function ownClient({ clientId, credential }: ProgramSignIn): StoredOAuthClientInformation {
  return { client_id: clientId, ...('secret' in credential ? { client_secret: credential.secret } : {}) };
}

/** A mounted server names its authorization server itself: it could name one that collects credentials. */
function requireIssuer({ issuer }: ProgramSignIn, context?: OAuthClientInformationContext): void {
  if (issuer === undefined) return;
  const named = context?.issuer ?? '';
  if (named !== '' && canonical(named) === canonical(issuer)) return;
  throw new ToolError('E_POLICY', `Authorization server is not the one of the registry: ${safeText(named, 200)}`, {
    details: {
      reason: 'issuer_mismatch',
      field: 'client_credentials.issuer',
      next: 'correct issuer, or remove the server',
    },
  });
}

function canonical(issuer: string): string {
  return URL.canParse(issuer) ? new URL(issuer).href.replace(/\/$/, '') : issuer;
}

function needsPerson(): ToolError {
  return new ToolError('E_POLICY', 'Authorization server asks for a person, and the program signs in by itself', {
    details: {
      reason: 'client_credentials_refused',
      next: 'have the client registered for the grant client_credentials',
    },
  });
}

function notOurs(): ToolError {
  return new ToolError('E_POLICY', 'Answer of the authorization server does not belong to this sign-in', {
    details: { reason: 'state_mismatch', next: 'sign in again' },
  });
}

function metadataOf({ redirectUrl, scope }: PersonSignIn): OAuthClientMetadata {
  return {
    client_name: 'Tool Runtime',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'client_secret_post',
    ...(scope === undefined ? {} : { scope }),
  };
}
