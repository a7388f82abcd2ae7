/**
 * How a sandboxed program reaches the egress proxy: a relay beside it turns a loopback port of its own network into the
 * proxy's Unix socket. The relay runs on the Node that runs us, because that is surely there.
 */
import { fileURLToPath } from 'node:url';
import { inPackage } from '../package-folder.ts';
import type { Words } from './bubblewrap-args.ts';
import type { Source } from './hold-mounts.ts';

export interface ProxyRelay {
  /** Host path of the proxy's socket, links resolved. */
  readonly socket: string;
}

const FOLDER = '/run/tool-runtime';
/** The Node that runs us, as a sandbox with a proxy sees it. */
export const RELAY_NODE = `${FOLDER}/node`;
const SOCKET = `${FOLDER}/proxy`;
const PORT = '3128';
/** The ending makes it a module without a package file beside it, as a source and as built. */
const ENDING = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const SCRIPT = `${FOLDER}/proxy-relay.m${ENDING}`;

export function relaySources(relay: ProxyRelay | undefined): readonly Source[] {
  if (relay === undefined) return [];
  const folder = ENDING === 'ts' ? 'src' : 'dist';
  const script = fileURLToPath(inPackage(`${folder}/platform/sandbox/proxy-relay.${ENDING}`));
  return [
    { from: process.execPath, at: RELAY_NODE, writable: false },
    { from: script, at: SCRIPT, writable: false },
    { from: relay.socket, at: SOCKET, writable: true },
  ];
}

/** The words before the program's own. */
export function relayWords(relay: ProxyRelay | undefined): Words {
  return relay === undefined ? [] : [RELAY_NODE, SCRIPT, SOCKET, PORT];
}

const PROXY_VARIABLES = ['http_proxy', 'https_proxy', 'all_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];

export function withProxy(
  relay: ProxyRelay | undefined,
  env: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (relay === undefined) return env;
  const url = `http://127.0.0.1:${PORT}`;
  // Node's own fetch asks for the variables only when told to.
  return { ...env, ...Object.fromEntries(PROXY_VARIABLES.map((name) => [name, url])), NODE_USE_ENV_PROXY: '1' };
}
