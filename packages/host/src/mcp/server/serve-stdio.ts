/** `tool-runtime mcp`: MCP on standard input and output. Answers the opening before anything of weight is loaded. */

import type { Runtime } from '@tool-runtime/sdk';
import { hostVersion } from '../../ops/host-version.ts';
import type { WorkspaceOptions } from '../../terminal/workspace-folder.ts';
import { checkWorkspace } from '../../terminal/workspace-folder.ts';
import type { LocalBackend } from './local-backend.ts';
import { serveConnection } from './stdio/serve-connection.ts';
import { whenClientIsGone } from './when-client-is-gone.ts';

export interface McpStdioOptions extends WorkspaceOptions {
  readonly profile?: string;
  readonly tools?: readonly string[];
}

interface Opened {
  readonly backend: LocalBackend;
  readonly runtime: () => Promise<Runtime> | undefined;
}

/** Resolves when the client is gone and everything it started has ended. */
export async function serveMcpStdio(options: McpStdioOptions): Promise<void> {
  checkWorkspace(options.workspace);
  let opening: Promise<Opened> | undefined;
  const open = (): Promise<Opened> => {
    opening ??= openBackend(options);
    return opening;
  };
  // A profile that does not exist is said at once; the usual one exists.
  if (options.profile !== undefined || options.tools !== undefined) await open();
  const connection = serveConnection({
    input: process.stdin,
    output: process.stdout,
    serverVersion: hostVersion(),
    backend: async () => (await open()).backend,
  });
  try {
    await Promise.race([whenClientIsGone(), connection.failure]);
  } finally {
    await connection.close();
    const opened = await opening?.catch(() => undefined);
    await opened?.backend.close();
    await (await opened?.runtime())?.close();
  }
}

async function openBackend(options: McpStdioOptions): Promise<Opened> {
  const [{ createApprovalDesk }, profiles, { createLocalBackend }, { openLocalRuntime }] = await Promise.all([
    import('../../sessions/approval-desk.ts'),
    import('../profiles/profiles.ts'),
    import('./local-backend.ts'),
    import('./local-runtime.ts'),
  ]);
  const approvals = createApprovalDesk({ now: Date.now });
  let runtime: Promise<Runtime> | undefined;
  const open = (): Promise<Runtime> => {
    runtime ??= openLocalRuntime(options, approvals);
    return runtime;
  };
  const { profile, tools } = options;
  // Only a profile of the operator's own needs the registry to be read first.
  const isOwn = profile !== undefined && !profiles.PROFILE_NAMES.includes(profile);
  const lists = isOwn ? (await open()).registry.toolProfiles : {};
  const backend = createLocalBackend({
    runtime: open,
    approvals,
    profile: profiles.resolveProfile({ profile, tools, lists }),
    serverVersion: hostVersion(),
  });
  return { backend, runtime: () => runtime };
}
