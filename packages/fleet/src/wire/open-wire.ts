/** One connection to the servers, with what is built on it. A lost server is replaced by another; the caller notices delay. */
import { readFileSync } from 'node:fs';
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import {
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  errors,
  type NatsConnection,
  type TlsOptions,
} from '@nats-io/transport-node';
import { ToolError } from '@tool-runtime/protocol';
import type { FleetCredentials, FleetFile } from './fleet-file.ts';
import { inboxPrefix } from './names.ts';
import { sleep } from './sleep.ts';

export interface Wire {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly tenant: string;
  readonly user: string;
  readonly replicas: number;
  /** Calls `told` whenever the connection is with another server; the returned function ends that. */
  onReconnect(told: () => void): () => void;
  close(): Promise<void>;
}

/** How long the first connection may take; servers of a fleet may be restarting. */
const FIRST_CONNECT_MS = 20_000;
const RETRY_MS = 200;
const ATTEMPT_MS = 5000;

export async function openWire(file: FleetFile, name: string): Promise<Wire> {
  const nc = await connectTo(file, file.credentials, name);
  const js = jetstream(nc, { timeout: REQUEST_MS });
  return {
    nc,
    js,
    jsm: await jetstreamManager(nc, { timeout: REQUEST_MS, checkAPI: false }),
    tenant: file.tenant,
    user: file.credentials.user,
    replicas: file.replicas,
    onReconnect: watchReconnects(nc),
    close: () => nc.close(),
  };
}

/** Longer than a client-side timeout must be for a healthy cluster, shorter than an election: then it is asked again. */
export const REQUEST_MS = 2000;

export async function connectTo(
  file: Pick<FleetFile, 'servers' | 'tls'>,
  credentials: FleetCredentials,
  name: string,
): Promise<NatsConnection> {
  const options: ConnectionOptions = {
    servers: [...file.servers],
    name,
    ...identityOf(credentials),
    inboxPrefix: inboxPrefix(credentials.user),
    // An outage must not end the process; the first connection is tried again below, for a bounded time.
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 100,
    pingInterval: 2000,
    maxPingOut: 3,
    timeout: 3000,
    ignoreAuthErrorAbort: true,
    // Otherwise every request makes an error with its stack first, in case it fails.
    noAsyncTraces: true,
    ...tlsOf(file.tls),
  };
  const until = AbortSignal.timeout(FIRST_CONNECT_MS);
  for (;;) {
    try {
      return await connectOnce(options);
    } catch (cause) {
      if (until.aborted || isRefused(cause)) throw unreachable(file.servers, cause);
    }
    await sleep(RETRY_MS, until);
  }
}

/** An attempt may never end when the other side hangs up during the handshake: it is given up, and closed if it ends after all. */
async function connectOnce(options: ConnectionOptions): Promise<NatsConnection> {
  const opening = connect(options);
  const over = new AbortController();
  const late = sleep(ATTEMPT_MS, over.signal).then(() => undefined);
  try {
    const opened = await Promise.race([opening, late]);
    if (opened !== undefined) return opened;
  } finally {
    over.abort();
  }
  opening.then(
    (nc) => nc.close(),
    () => undefined,
  );
  throw new TypeError('The server did not finish the handshake');
}

/** Waiting changes nothing about a certificate or credentials that are not accepted. */
function isRefused(cause: unknown): boolean {
  for (let error = cause; error instanceof Error; error = error.cause) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (error instanceof errors.AuthorizationError || /CERT|SIGNATURE|ISSUER|_TLS_|_SSL_/.test(String(code)))
      return true;
  }
  return false;
}

/** Reads the news of a connection once for all that wait for a reconnect. Ends with the connection. */
function watchReconnects(nc: NatsConnection): Wire['onReconnect'] {
  const listeners = new Set<() => void>();
  void (async () => {
    for await (const { type } of nc.status()) {
      if (type === 'reconnect') for (const told of listeners) told();
    }
  })();
  return (told) => {
    listeners.add(told);
    return () => void listeners.delete(told);
  };
}

function identityOf(credentials: FleetCredentials): Pick<ConnectionOptions, 'user' | 'pass' | 'authenticator'> {
  if ('password' in credentials) return { user: credentials.user, pass: credentials.password };
  return { authenticator: credsAuthenticator(readFileSync(credentials.creds_file)) };
}

function tlsOf(tls: FleetFile['tls']): { readonly tls?: TlsOptions } {
  if (tls === undefined) return {};
  return {
    tls: {
      ...(tls.ca_file === undefined ? {} : { caFile: tls.ca_file }),
      ...(tls.cert_file === undefined ? {} : { certFile: tls.cert_file }),
      ...(tls.key_file === undefined ? {} : { keyFile: tls.key_file }),
    },
  };
}

function unreachable(servers: readonly string[], cause?: unknown): ToolError {
  return new ToolError('E_TIMEOUT', `No server of the fleet can be reached: ${servers.join(', ')}`, {
    details: {
      reason: 'fleet_unreachable',
      retry: 'retryable',
      next: 'check that the servers run and that the credentials are theirs',
    },
    cause,
  });
}
