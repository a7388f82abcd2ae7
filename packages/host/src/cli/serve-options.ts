/** Options of `serve` as the host wants them. What cannot be meant is bad usage, before anything is opened. */
import { join, resolve } from 'node:path';
import { createAst } from '@tool-runtime/ast';
import { liesInside } from '../auth/lies-inside.ts';
import { type HttpCoordinator, httpCoordinator } from '../coordinator/http-coordinator.ts';
import { lazyGateway } from '../mcp/gateway/lazy-gateway.ts';
import type { Log } from '../ops/log.ts';
import type { StartHostOptions } from '../start-host.ts';
import { badUsage } from '../terminal/bad-usage.ts';
import { checkWorkspace } from '../terminal/workspace-folder.ts';
import { cassetteOf } from './command.ts';
import type { ServeOptions } from './commands/serve.ts';
import { stateOf } from './state-of.ts';

export interface ServePlaces {
  readonly state: string;
  readonly tokenFile: string;
}

export function servePlaces(options: ServeOptions): ServePlaces {
  const folders = [options.workspace, ...options.also];
  for (const folder of folders) checkWorkspace(folder);
  const state = resolve(stateOf(options));
  const tokenFile = resolve(options.tokenFile ?? join(state, 'host.token'));
  if (options.cassette !== undefined && options.also.length > 0) {
    throw badUsage('--cassette holds the calls of one workspace', 'leave out --also, or start a host for each folder');
  }
  // A tool could read it there.
  if (liesInside(tokenFile, folders)) {
    throw badUsage('The token file is inside a workspace, where tools could read it', 'name one outside');
  }
  return { state, tokenFile };
}

export function coordinatorOf(options: ServeOptions): HttpCoordinator | undefined {
  const { coordinator: url } = options;
  if (url === undefined) return undefined;
  if (cassetteOf(options).cassette?.mode === 'replay') {
    throw badUsage('Replay contacts nothing, so --coordinator cannot be used with it', 'leave out --coordinator');
  }
  const token = process.env['TOOL_RUNTIME_COORDINATOR_TOKEN'];
  try {
    return httpCoordinator({ url, ...(token === undefined ? {} : { token }) });
  } catch (thrown) {
    throw badUsage(`--coordinator: ${thrown instanceof Error ? thrown.message : 'cannot be used'}`);
  }
}

type Given = Omit<StartHostOptions, 'tokens' | 'log' | 'serverVersion' | 'onStopRequested' | 'runtime'>;

export function hostOptions(options: ServeOptions, state: string): Given {
  const http = parseHttpAddress(options.http);
  const socket = options.socket ?? join(state, 'host.sock');
  return {
    workspaces: [options.workspace, ...options.also],
    ...(options.state === undefined ? {} : { state }),
    ...(http === undefined ? {} : { http }),
    ...(socket === 'none' ? {} : { socket: resolve(socket) }),
    ...tlsOf(options),
    allowPlaintext: options.allowPlaintext === true,
    allowHosts: options.allowHost,
    allowOrigins: options.allowOrigin,
    limits: {
      ...(options.maxSessions === undefined ? {} : { maxSessions: options.maxSessions }),
      ...(options.maxInFlight === undefined ? {} : { maxInFlight: options.maxInFlight }),
    },
    drainMs: options.drainTimeout * 1000,
    ast: createAst,
  };
}

export function runtimeOptions(
  options: ServeOptions,
  coordinator: HttpCoordinator | undefined,
  log: Log,
): NonNullable<StartHostOptions['runtime']> {
  return {
    sources: [lazyGateway({ log })],
    ...(options.registry === undefined ? {} : { registry: options.registry }),
    ...(options.durability === undefined ? {} : { durability: options.durability }),
    ...(options.witness === undefined ? {} : { witness: { file: resolve(options.witness) } }),
    ...cassetteOf(options),
    ...(options.keepDays === undefined ? {} : { retention: { records_days: options.keepDays } }),
    ...(coordinator === undefined ? {} : { coordinator }),
    secrets: secretsOfHost(),
    onUnexpected: (error) => log.error('unexpected', { error, cause: error.cause }),
  };
}

/** Tokens the host itself holds; those of its clients are known by their digest only, and by how they begin. */
export function secretsOfHost(): readonly string[] {
  const token = process.env['TOOL_RUNTIME_COORDINATOR_TOKEN'];
  return token === undefined ? [] : [token];
}

function tlsOf({ tlsCert, tlsKey }: ServeOptions): Pick<StartHostOptions, 'tls'> {
  if (tlsCert === undefined && tlsKey === undefined) return {};
  if (tlsCert === undefined || tlsKey === undefined) throw badUsage('--tls-cert and --tls-key must be given together');
  return { tls: { certFile: tlsCert, keyFile: tlsKey } };
}

interface HttpAddress {
  readonly hostname: string;
  readonly port: number;
}

const FORM = /^(?:\[([0-9a-fA-F:]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/;

/** `HOST:PORT` of `--http`, or `none`. */
export function parseHttpAddress(text: string): HttpAddress | undefined {
  if (text === 'none') return undefined;
  const [, ipv6, name, digits] = FORM.exec(text) ?? [];
  const port = Number(digits);
  const hostname = ipv6 ?? name;
  if (hostname === undefined || port > 65_535) throw badUsage(`--http takes HOST:PORT or none: ${text}`);
  return { hostname, port };
}
