/** mcp add, mcp remove: foreign MCP servers in the registry. */
import type { JsonObject } from '@tool-runtime/protocol';
import type { Command } from 'commander';
import { badUsage } from '../../../terminal/bad-usage.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';
import { nameList } from '../../option-values.ts';

interface AddOptions extends SharedOptions {
  readonly url?: string;
  readonly prefix?: string;
  readonly tools: readonly string[];
  readonly env?: readonly string[];
  readonly readPath: readonly string[];
  readonly yes?: boolean;
}

interface RemoveOptions extends SharedOptions {
  readonly yes?: boolean;
}

export function addAdd(command: Command, done: Done): void {
  withSharedOptions(command.command('add').description('Mount a foreign MCP server: mcp add <name> -- command args…'))
    .argument('<name>', 'what the registry calls it')
    .argument('[command...]', 'program and arguments, after --')
    .option('--url <url>', 'its address on streamable HTTP, instead of a command')
    .option('--prefix <prefix>', 'first part of the names its tools get (default: its name)')
    .option('--tools <list>', 'which of its tools may be used, * and ? allowed', nameList, ['*'])
    .option('--env <list>', 'variables handed on to it, by name', nameList)
    .option(
      '--read-path <dir>',
      'an absolute path it may read in addition to system and workspace; may be repeated',
      collect,
      [],
    )
    .option('-y, --yes', 'write without asking')
    .action(async (name: string, words: readonly string[], options: AddOptions) =>
      done(await add(name, words, options)),
    );
}

async function add(name: string, words: readonly string[], options: AddOptions): Promise<number> {
  const [{ withMcpServer }, { readConfigFile }, { registryPlace, checkRegistry, noteTrust }, { confirmChange }] =
    await Promise.all([
      import('../../../mcp/install/edit-registry.ts'),
      import('../../../mcp/install/config-file.ts'),
      import('./registry-file.ts'),
      import('./confirm-change.ts'),
    ]);
  const settings = settingsOf(words, options);
  const place = registryPlace(options);
  const file = readConfigFile(place);
  const text = withMcpServer(file.text === '' ? 'version: 1\n' : file.text, name, settings);
  await checkRegistry(text, place, options);
  const code = await confirmChange({ place, file, text }, options);
  if (code !== 0 || text === file.text) return code;
  noteTrust(options);
  process.stderr.write(`its tools wait for approval: tool-runtime mcp approve ${name}\n`);
  return 0;
}

function settingsOf(words: readonly string[], { url, prefix, tools, env, readPath }: AddOptions): JsonObject {
  if ((words.length === 0) === (url === undefined)) {
    throw badUsage('A server has a command or a --url, one of them', 'tool-runtime mcp add <name> -- command args…');
  }
  return {
    ...(url === undefined ? { command: [...words] } : { url }),
    ...(prefix === undefined ? {} : { prefix }),
    tools: [...tools],
    ...(env === undefined ? {} : { env: [...env] }),
    ...(readPath.length === 0 ? {} : { read_paths: [...readPath] }),
  };
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/** Removes the server from the registry and forgets which of its tools were approved. */
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
