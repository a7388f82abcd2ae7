/** mcp remove: takes a foreign MCP server out of the registry, and forgets which of its tools were approved. */
import type { Command } from 'commander';
import { badUsage } from '../../../terminal/bad-usage.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';

interface RemoveOptions extends SharedOptions {
  readonly yes?: boolean;
}

export function addRemove(command: Command, done: Done): void {
  withSharedOptions(command.command('remove').description('Take a foreign MCP server out of the registry'))
    .argument('<name>', 'as mcp list shows it')
    .option('-y, --yes', 'write without asking')
    .action(async (name: string, options: RemoveOptions) => done(await remove(name, options)));
}

async function remove(name: string, options: RemoveOptions): Promise<number> {
  const [{ withoutMcpServer }, { readConfigFile }, { registryPlace, noteTrust }, { confirmChange }] = await Promise.all(
    [
      import('../../../mcp/install/edit-registry.ts'),
      import('../../../mcp/install/config-file.ts'),
      import('./registry-file.ts'),
      import('./confirm-change.ts'),
    ],
  );
  const place = registryPlace(options);
  const file = readConfigFile(place);
  const text = file.exists ? withoutMcpServer(file.text, name) : undefined;
  if (text === undefined) throw badUsage(`No such server in ${place.path}: ${name}`, 'see: tool-runtime mcp list');
  const code = await confirmChange({ place, file, text }, options);
  if (code !== 0) return code;
  noteTrust(options);
  const [{ stateOf }, { removePins }] = await Promise.all([
    import('../../state-of.ts'),
    import('../../../mcp/gateway/pin-file.ts'),
  ]);
  removePins(stateOf(options), name);
  return 0;
}
