/** How one mounted server is reached: a sandboxed process of its own, or an address. Secrets are looked up here, by name. */
import { existsSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { ToolError } from '@tool-runtime/protocol';
import type { McpServerSettings, OpenCommandRunner, ProgramWall } from '@tool-runtime/sdk';
import { sideEffectRank } from '@tool-runtime/sdk';
import { needsEncryption, unencrypted } from '@tool-runtime/sdk/parts';
import { CommandTransport } from './command-transport.ts';
import { guardedFetch } from './guarded-fetch.ts';
import type { Authorization } from './oauth-provider.ts';
import { type GatewayLog, stderrLines } from './stderr-lines.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface TransportSetting {
  readonly server: string;
  readonly settings: McpServerSettings;
  readonly environment: Environment;
  readonly allowedDomains: readonly string[];
  /** Hosts that may be sent credentials over plain http. */
  readonly insecureCredentials: readonly string[];
  readonly log: GatewayLog;
  readonly authorization: Authorization | undefined;
  redact(text: string): string;
}

export type UpstreamTransport = CommandTransport | StreamableHTTPClientTransport;

const READS = sideEffectRank('read_only');

/** The highest level any tool of the server may have: what its process is allowed follows from it. */
export function topLevel({ side_effect_level, levels }: McpServerSettings): number {
  return Math.max(sideEffectRank(side_effect_level), ...Object.values(levels).map(sideEffectRank));
}

export function wallOf(settings: McpServerSettings, usual: ProgramWall['isolation']): ProgramWall {
  const program = settings.command?.[0] ?? '';
  return {
    isolation: settings.isolation ?? usual,
    ...(isAbsolute(program) ? { exactProgram: program, programFolders: [dirname(program)] } : { programFolders: [] }),
    readPaths: settings.read_paths,
    writable: topLevel(settings) > READS,
  };
}

export function openCommand(setting: TransportSetting, runner: OpenCommandRunner, wall: ProgramWall): CommandTransport {
  const { server, settings, log, redact, allowedDomains } = setting;
  const argv = settings.command ?? [];
  const complain = stderrLines(server, log);
  return new CommandTransport({
    runner,
    argv: wall.isolation === 'none' ? [...diesWithUs(), ...argv] : argv,
    env: handedOn(setting),
    cwd: settings.cwd,
    network: allowedDomains.length > 0 && topLevel(settings) >= sideEffectRank('network'),
    onStderr: (line) => complain(redact(line)),
    // Cut afterwards: half a secret is not recognised.
    onNoise: (line) => log.debug('mcp_server_noise', { server, line: redact(line).slice(0, 200) }),
  });
}

export function openHttp(setting: TransportSetting): StreamableHTTPClientTransport {
  const { settings, allowedDomains, insecureCredentials, authorization } = setting;
  const url = new URL(settings.url ?? '');
  const headers = headersOf(setting);
  requireCredential(setting);
  if (Object.keys(headers).length > 0 && needsEncryption(url, insecureCredentials)) {
    throw unencrypted('headers_env', url, `mcp_servers.${setting.server}`);
  }
  return new StreamableHTTPClientTransport(url, {
    fetch: guardedFetch({
      origin: url.origin,
      allowedDomains,
      insecureCredentials,
      ...(authorization === undefined ? {} : { allows: authorization.allows }),
    }),
    requestInit: { headers },
    ...(authorization === undefined ? {} : { authProvider: authorization.provider }),
  });
}

/** Processes in a sandbox end with us anyway; without one the kernel is asked to end them, where it can. */
function diesWithUs(): readonly string[] {
  return existsSync('/usr/bin/setpriv') ? ['setpriv', '--pdeathsig', 'KILL', '--'] : [];
}

function handedOn({ settings, environment, server, log }: TransportSetting): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of settings.env) {
    const value = environment[name];
    if (value === undefined) log.warn('mcp_server_variable_missing', { server, variable: name });
    else found[name] = value;
  }
  return found;
}

function headersOf({ settings, environment, server }: TransportSetting): Record<string, string> {
  const entries = Object.entries(settings.headers_env).map(([header, name]): [string, string] => {
    const value = environment[name];
    if (value !== undefined && value !== '') return [header, value];
    throw notSet('header', name, server);
  });
  return Object.fromEntries(entries);
}

function requireCredential({ settings: { client_credentials: own }, environment, server }: TransportSetting): void {
  const name = own?.secret_env ?? own?.private_key_env;
  if (name !== undefined && (environment[name] ?? '') === '') throw notSet('credential', name, server);
}

function notSet(what: 'header' | 'credential', name: string, server: string): ToolError {
  return new ToolError('E_POLICY', `Variable with the ${what} of an MCP server is not set: ${name}`, {
    details: { server, reason: 'missing_variable', next: `set ${name} in the environment of the host` },
  });
}

/** Values that must not come back in answers, errors or logs. */
export function secretsOf(settings: McpServerSettings, environment: Environment): readonly string[] {
  const { env, headers_env, client_credentials: { secret_env = '', private_key_env = '' } = {} } = settings;
  const values = [...env, ...Object.values(headers_env), secret_env, private_key_env].map(
    (name) => environment[name] ?? '',
  );
  return values.filter((value) => value.length >= 6);
}
