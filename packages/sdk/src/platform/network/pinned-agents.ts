/**
 * Connections that can only lead to the addresses that were checked.
 *
 * A socket is kept for reuse under its target and its checked addresses together, so it never serves another host, nor
 * the same host after its name began to point elsewhere. Proxy variables of the environment are not looked at.
 */
import { lookup } from 'node:dns/promises';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { egressRefused } from '../../egress/egress-refused.ts';
import { addressBytes } from '../../egress/judge-address.ts';

/** Looks a name up once, all addresses at once, the way every other program of this machine would. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

export const resolveHost: ResolveHost = async (host) => {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
};

/** What one connection may lead to. */
export interface Pin {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly addresses: readonly string[];
}

export type PinnedRequestOptions = RequestOptions & { readonly pin: Pin };

export interface PinnedAgents {
  /** Options that carry the pin to the agent. `kept` sockets are reused; `once` ones serve a single request. */
  optionsFor(pin: Pin, use: 'kept' | 'once'): PinnedRequestOptions;
  close(): void;
}

const IDLE_MS = 4_000;

export function createPinnedAgents(options: { readonly ca?: string } = {}): PinnedAgents {
  // Without the explicit word, NODE_TLS_REJECT_UNAUTHORIZED in the environment could switch the check off.
  const tls = { rejectUnauthorized: true, ...(options.ca === undefined ? {} : { ca: options.ca }) };
  const kept = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: 4 };
  const agents = {
    http: { kept: pinned(new HttpAgent(kept)), once: pinned(new HttpAgent()) },
    https: { kept: pinned(new HttpsAgent({ ...kept, ...tls })), once: pinned(new HttpsAgent(tls)) },
  };
  return {
    optionsFor(pin, use) {
      const agent = agents[pin.origin.startsWith('https:') ? 'https' : 'http'][use];
      return { pin, agent, lookup: pinnedLookup(pin.addresses), autoSelectFamily: true } as PinnedRequestOptions;
    },
    close() {
      for (const { kept, once } of Object.values(agents)) for (const agent of [kept, once]) agent.destroy();
    },
  };
}

function pinned<A extends HttpAgent>(agent: A): A {
  const connect = agent.createConnection.bind(agent);
  agent.getName = (options) => poolName(options as PinnedRequestOptions | undefined);
  agent.createConnection = (options, callback) => {
    const socket = connect(options, callback);
    if (socket !== null && socket !== undefined) watchPeer(socket as Socket, (options as PinnedRequestOptions).pin);
    return socket;
  };
  return agent;
}

function poolName(options: PinnedRequestOptions | undefined): string {
  if (options === undefined) return '';
  return `${options.pin.origin} ${options.pin.addresses.toSorted().join(' ')}`;
}

/** The second look: whatever lies between us and the kernel, the peer is one of the checked addresses or hears nothing. */
function watchPeer(socket: Socket, pin: Pin): void {
  socket.prependOnceListener('connect', () => {
    const peer = addressBytes(socket.remoteAddress ?? '')?.join();
    if (pin.addresses.some((address) => addressBytes(address)?.join() === peer)) return;
    socket.destroy(
      egressRefused('Connection leads to another address than the one checked', {
        host: pin.origin,
        reason: 'peer_changed',
        next: 'look at what redirects connections on this machine',
      }),
    );
  });
}

/** Answers these addresses to whatever is asked. */
export function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const list = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return (_host, options, callback) => {
    const [first] = list;
    if (options.all === true) callback(null, list);
    else callback(null, first?.address ?? '', first?.family);
  };
}
