/** Asks a mounted MCP server for its tools, on behalf of an operator who is about to approve them. */

import { showWarning } from '../../terminal/terminal.ts';
import type { WorkspaceOptions } from '../../terminal/workspace-folder.ts';
import type { RefreshReport } from '../gateway/compare-pins.ts';
import { createGateway } from '../gateway/create-gateway.ts';

/** New and changed definitions are noted in the state folder and wait. Nothing is left running. */
export async function refreshServer(server: string, options: WorkspaceOptions): Promise<RefreshReport> {
  const [{ createRuntime }, { createAst }] = await Promise.all([
    import('@tool-runtime/sdk'),
    import('@tool-runtime/ast'),
  ]);
  const gateway = createGateway();
  const runtime = await createRuntime({
    workspace: options.workspace,
    ast: createAst(),
    sources: [gateway],
    ...(options.state === undefined ? {} : { state: options.state }),
    ...(options.registry === undefined ? {} : { registry: options.registry }),
  });
  try {
    for (const { message, path } of runtime.warnings) {
      if (path !== `mcp_servers.${server}`) showWarning(message);
    }
    return await gateway.refresh(server);
  } finally {
    await runtime.close();
  }
}
