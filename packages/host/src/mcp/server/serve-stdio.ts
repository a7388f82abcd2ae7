/** `tool-runtime mcp`: MCP on standard input and output. */
import type { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { ApprovalDispatcher, Runtime } from '@tool-runtime/sdk';
import { hostVersion } from '../../ops/host-version.ts';
import { createApprovalDesk } from '../../sessions/approval-desk.ts';
import { createReloadingRuntime, governingFiles } from '../../sessions/reloading-runtime.ts';
import { showRuntimeWarning } from '../../terminal/terminal.ts';
import { checkWorkspace } from '../../terminal/workspace-folder.ts';
import { PROFILE_NAMES, resolveProfile } from '../profiles/profiles.ts';
import { createMcpServer } from './create-mcp-server.ts';
import { FrameTransport } from './frame-transport.ts';
import { createLocalBackend } from './local-backend.ts';
import type { McpBackend } from './mcp-backend.ts';

export interface McpStdioOptions {
  readonly workspace: string;
  readonly profile?: string;
  readonly tools?: readonly string[];
  readonly registry?: string | undefined;
  readonly state?: string | undefined;
  openRuntime(approvals: ApprovalDispatcher): Promise<Runtime>;
}

/**
 * Resolves when the client is gone and everything it started has ended. The runtime is opened with the first list or
 * call: clients start servers that they never use.
 */
export async function serveMcpStdio(options: McpStdioOptions): Promise<void> {
  checkWorkspace(options.workspace);
  const approvals = createApprovalDesk({ now: Date.now });
  const runtimes = createReloadingRuntime({
    open: () => options.openRuntime(approvals),
    files: () => governingFiles({ workspace: options.workspace, state: options.state, registry: options.registry }),
    onRefused: showRuntimeWarning,
  });
  const open = () => runtimes.current();
  const backend = createLocalBackend({
    runtime: open,
    approvals,
    profile: await chooseProfile(options, open),
    serverVersion: hostVersion(),
  });
  runtimes.onChange(() => backend.renew());
  const transport = new FrameTransport(process.stdin, process.stdout);
  const connection = serveStdio(() => serveOn(transport, backend), { transport });
  try {
    await whenClientIsGone(transport);
  } finally {
    await inTime(async () => {
      await connection.close();
      await transport.close();
      await backend.close();
      await runtimes.close();
    });
  }
}

/** The newest server is the connected one: the first may only have answered which families there are. */
export function serveOn(transport: FrameTransport, backend: McpBackend): Server {
  const server = createMcpServer(backend);
  transport.onplaincall = (message, answers) => server.takePlainCall(message, answers);
  return server;
}

/** A client waits this long at most for a server it closed. */
const CLOSE_MS = 15_000;

/**
 * Some of what is waited for here (worker threads, timers) does not keep the process alive: without the timer the event
 * loop may run empty first, and Node ends with code 13. What does not end in time is left: the process ends anyway, and
 * the journal finds calls that have no result at the next start.
 */
export async function inTime(close: () => Promise<void>, limitMs: number = CLOSE_MS): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limitMs);
  await Promise.race([close(), late]).finally(() => clearTimeout(timer));
}

/** Only a profile that the operator defined needs the registry, and with it the runtime. */
async function chooseProfile({ profile, tools }: McpStdioOptions, open: () => Promise<Runtime>) {
  const isOwn = profile !== undefined && !PROFILE_NAMES.includes(profile);
  return resolveProfile({ profile, tools, lists: isOwn ? (await open()).registry.toolProfiles : {} });
}

/**
 * Clients die without saying goodbye, and hundreds of forgotten servers are what their users then find. Gone means: the
 * input ended and what it asked was answered or took too long, a signal came, or the parent is another one than at the start.
 */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const LOOK_EVERY_MS = 2000;

async function whenClientIsGone(transport: FrameTransport): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const parent = process.ppid;
  const gone = (): void => resolve();
  const look = setInterval(() => {
    if (process.ppid !== parent) gone();
  }, LOOK_EVERY_MS);
  look.unref();
  void transport.ended.then(gone);
  process.stdout.once('error', gone);
  for (const name of SIGNALS) process.once(name, gone);
  await promise;
  clearInterval(look);
  for (const name of SIGNALS) process.off(name, gone);
}
