/**
 * The gateway: foreign MCP servers that a registry mounts, as tools of a runtime. Hand it to `createRuntime` as one of
 * its `sources`; one gateway serves one runtime.
 *
 * Opening reads pins and starts nothing. A server is reached with its first call or with `refresh`; what it lists then
 * is compared with what was approved.
 */
import { type ErrorEntry, ToolError } from '@tool-runtime/protocol';
import type { AnyTool, ForeignServer, McpServerSettings, ToolSource, ToolSourcePorts } from '@tool-runtime/sdk';
import { createRedactor } from '@tool-runtime/sdk/parts';
import { comparePins, type RefreshReport } from './compare-pins.ts';
import type { Connection } from './connection.ts';
import type { ForeignDefinition } from './foreign-definition.ts';
import { foreignName } from './foreign-name.ts';
import { foreignServer } from './foreign-server.ts';
import { foreignTool } from './foreign-tool.ts';
import { type Authorization, createAuthorization } from './oauth-provider.ts';
import { type Environment, secretsOf } from './open-transport.ts';
import { PinBook } from './pin-book.ts';
import { type QuarantineSubject, quarantineReason } from './quarantine.ts';
import type { GatewayLog } from './stderr-lines.ts';
import { Upstream } from './upstream.ts';

export interface GatewayOptions {
  readonly log?: GatewayLog;
  /** Approves definitions that were never seen before; changed ones always wait. For operators who trust a server once. */
  readonly approveNew?: boolean;
  /** Where variables are looked up. Default: the host's own. */
  readonly environment?: Environment;
  /** How to sign in to servers that want it (`createAuthorization`), by the registry's name. */
  readonly signIn?: (server: string) => Authorization | undefined;
}

export interface MountedServer {
  readonly server: string;
  readonly settings: McpServerSettings;
  readonly isRunning: boolean;
  /** Name in the runtime → name at the server. */
  readonly tools: ReadonlyMap<string, string>;
}

export interface Gateway extends ToolSource {
  /** Of the runtime it was opened for; empty before. */
  servers(): readonly MountedServer[];
  /** Asks the server for its tools. New and changed definitions wait for approval; sessions opened later see the rest. */
  refresh(server: string): Promise<RefreshReport>;
}

const SILENT: GatewayLog = { debug: () => {}, info: () => {}, warn: () => {} };

interface Mount extends MountedServer {
  readonly upstream: Upstream;
  readonly view: ForeignServer;
}

export function createGateway(options: GatewayOptions = {}): Gateway {
  let mounts: readonly Mount[] = [];
  return {
    servers: () => mounts,
    async refresh(server) {
      const mount = mounts.find((candidate) => candidate.server === server);
      if (mount === undefined) throw notMounted(server);
      return await mount.upstream.refresh();
    },
    open(ports) {
      if (mounts.length > 0) throw new TypeError('A gateway serves one runtime');
      const taken = new Set(ports.names);
      const pins = new PinBook(ports.state);
      const opened = [...ports.registry.mcpServers].map(([server, settings]) =>
        mountServer({ server, settings, ports, options, pins }, taken),
      );
      mounts = opened.flatMap(({ mount }) => mount ?? []);
      return {
        tools: opened.flatMap(({ tools }) => tools),
        warnings: opened.flatMap(({ warning }) => warning ?? []),
        servers: () => mounts.map(({ view }) => view),
        close: async () => {
          await Promise.all(mounts.map(({ upstream }) => upstream.close()));
        },
      };
    },
  };
}

interface MountSetting {
  readonly server: string;
  readonly settings: McpServerSettings;
  readonly ports: ToolSourcePorts;
  readonly options: GatewayOptions;
  readonly pins: PinBook;
}

interface OpenMount {
  readonly tools: readonly AnyTool[];
  readonly mount?: Mount;
  readonly warning?: ErrorEntry;
}

function mountServer(setting: MountSetting, taken: Set<string>): OpenMount {
  const { server, settings, pins } = setting;
  if (settings.command === undefined && settings.url === undefined) {
    return {
      tools: [],
      warning: warn(setting, 'MCP server has neither a command nor a url', 'give it one of the two'),
    };
  }
  const upstream = createUpstream(setting);
  const names = new Map<string, string>();
  const tools = Object.entries(pins.of(server).tools)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([tool, pin]) => {
      const name = foreignName({ server, prefix: settings.prefix, tool }, taken);
      names.set(name, tool);
      const subject: QuarantineSubject = { server, tool, name, digest: pin.approved?.digest };
      const quarantine = () => quarantineReason(subject, pins.of(server));
      const definition = pin.approved?.definition ?? unseen(tool);
      return foreignTool({ name, server, settings, definition, upstream, quarantine });
    });
  const mount = {
    server,
    settings,
    upstream,
    tools: names,
    view: foreignServer({
      ...{ server, settings, pins, names },
      redact: setting.ports.redact,
      isRunning: () => upstream.isRunning,
      refresh: () => askFreshInstance(setting),
    }),
    get isRunning() {
      return upstream.isRunning;
    },
  };
  const next = `tool-runtime mcp approve ${server}`;
  const nothing = tools.length === 0 ? warn(setting, 'MCP server has no approved tools yet', next) : undefined;
  return { tools, mount, ...(nothing === undefined ? {} : { warning: nothing }) };
}

/** Another instance than the one that serves calls: theirs may be older than what the server is now. */
async function askFreshInstance(setting: MountSetting): Promise<void> {
  const upstream = createUpstream(setting);
  try {
    await upstream.refresh();
  } finally {
    await upstream.close();
  }
}

function createUpstream({ server, settings, ports, options, pins }: MountSetting): Upstream {
  const { log = SILENT, environment = process.env, approveNew = false } = options;
  const secrets = createRedactor({ secrets: [...secretsOf(settings, environment)] });
  const authorization =
    settings.url === undefined ? undefined : (options.signIn?.(server) ?? programSignIn(settings, environment));
  return new Upstream({
    server,
    settings,
    environment,
    log,
    authorization,
    allowedDomains: ports.registry.allowedDomains,
    insecureCredentials: ports.registry.insecureCredentials,
    isolation: ports.registry.isolation,
    redact: (text) => ports.redact(secrets.known.text(text)),
    openPrograms: ports.openPrograms,
    isLegacy: () => pins.of(server).family === 'legacy',
    review: (connection) => review(server, connection, { pins, log, approveNew }),
  });
}

/** `client_credentials` of a server as a way to sign in. A variable that is not set is refused when the server is opened. */
function programSignIn(
  { client_credentials: own }: McpServerSettings,
  environment: Environment,
): Authorization | undefined {
  if (own === undefined) return undefined;
  const { issuer, client_id: clientId, secret_env, private_key_env = '', alg, scope, dpop } = own;
  return createAuthorization({
    issuer,
    clientId,
    credential:
      secret_env === undefined
        ? { privateKey: environment[private_key_env] ?? '', alg }
        : { secret: environment[secret_env] ?? '' },
    dpop,
    ...(scope === undefined ? {} : { scope }),
  });
}

async function review(
  server: string,
  connection: Connection,
  { pins, log, approveNew }: { readonly pins: PinBook; readonly log: GatewayLog; readonly approveNew: boolean },
): Promise<RefreshReport> {
  const listed = await connection.listTools();
  const how = { family: connection.family, approveNew };
  const { report } = comparePins(server, pins.of(server), listed, how);
  pins.update(server, (before) => comparePins(server, before, listed, how).pins);
  const { added, changed, refused } = report;
  if (changed.length > 0 || refused.length > 0) log.warn('mcp_definitions_quarantined', { server, changed, refused });
  if (added.length > 0) log.info('mcp_definitions_added', { server, added: added.length });
  return report;
}

/** In place of a definition that is not approved: none of its text is shown. */
function unseen(tool: string): ForeignDefinition {
  return { name: tool, inputSchema: { type: 'object' } };
}

function warn({ server, ports }: MountSetting, problem: string, next: string): ErrorEntry {
  const spot = ports.registry.spot(`mcp_servers.${server}`);
  const registry = spot === undefined ? {} : { registry: `${spot.file}:${spot.line}` };
  return {
    code: 'E_POLICY',
    message: `${problem}: ${server}`,
    path: `mcp_servers.${server}`,
    details: { ...registry, next },
  };
}

function notMounted(server: string): ToolError {
  return new ToolError('E_POLICY', `MCP server is not mounted: ${server}`, {
    details: { reason: 'server_not_mounted', field: 'mcp_servers', next: 'add it to mcp_servers of the registry' },
  });
}
