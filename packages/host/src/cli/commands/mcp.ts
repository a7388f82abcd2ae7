/** tool-runtime mcp: serves MCP on standard input and output; below it, what sets clients and foreign servers up. */
import { defineCommand, type SharedOptions, withCassetteOptions, withRuntimeOptions } from '../command.ts';
import { openRuntime } from '../open-runtime.ts';
import { nameList } from '../option-values.ts';
import { addAdd, addRemove } from './mcp/add.ts';
import { addApprove } from './mcp/approve.ts';
import { addInstall } from './mcp/install.ts';
import { addList } from './mcp/list.ts';

interface McpOptions extends SharedOptions {
  readonly profile?: string;
  readonly tools?: readonly string[];
}

export const mcp = defineCommand({
  name: 'mcp',
  summary: 'Serve MCP on stdin and stdout; install it in a client; mount foreign MCP servers',
  configure(command, done) {
    withCassetteOptions(withRuntimeOptions(command))
      .option(
        '--profile <name>',
        'tools to list: core, read-only, full, structured (for programs), or a name from tool_profiles of the registry (default: core)',
      )
      .option('--tools <list>', 'only these tools: names with commas, * and ? allowed', nameList)
      .action(async (options: McpOptions) => {
        const { serveMcpStdio } = await import('../../mcp/server/serve-stdio.ts');
        await serveMcpStdio({ ...options, openRuntime: (approvals) => openRuntime(options, approvals) });
        done(0);
      });
    for (const add of [addInstall, addList, addAdd, addRemove, addApprove]) add(command, done);
  },
});
