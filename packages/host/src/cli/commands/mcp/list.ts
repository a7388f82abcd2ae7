/** mcp list: the foreign MCP servers of the registry in force, and how many of their tools are approved. */
import type { McpServerSettings } from '@tool-runtime/sdk';
import type { Command } from 'commander';
import type { ServerPins } from '../../../mcp/gateway/pin-file.ts';
import { paint, plainText, printJson, printLine } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';

export function addList(command: Command, done: Done): void {
  withSharedOptions(
    command.command('list').description('Foreign MCP servers, and which of their tools are approved'),
  ).action(async (options: SharedOptions) => {
    const [{ withRuntime }, { stateOf }, { listPins, ownEntry }] = await Promise.all([
      import('../../open-runtime.ts'),
      import('../../state-of.ts'),
      import('../../../mcp/gateway/pin-file.ts'),
    ]);
    const servers = await withRuntime(options, ({ registry }) => [...registry.mcpServers]);
    const pins = listPins(stateOf(options));
    for (const [name, settings] of servers) {
      const found = describe(name, settings, ownEntry(pins, name));
      if (options.json === true) printJson(found, { compact: true });
      else show(found);
    }
    if (servers.length === 0 && options.json !== true) printLine('no foreign servers; add one: tool-runtime mcp add');
    done(0);
  });
}

interface DescribedServer {
  readonly name: string;
  readonly prefix: string;
  readonly target: string;
  readonly tools: readonly string[];
  readonly approved: readonly string[];
  /** New, or different from what was approved: not usable until approved. */
  readonly waiting: readonly string[];
  /** Tool → why its definition is not taken. */
  readonly refused: Readonly<Record<string, string>>;
}

function describe(name: string, settings: McpServerSettings, pins: ServerPins | undefined): DescribedServer {
  const tools = Object.entries(pins?.tools ?? {});
  return {
    name,
    prefix: settings.prefix,
    target: settings.url ?? (settings.command ?? []).join(' '),
    tools: settings.tools,
    approved: tools.flatMap(([tool, pin]) => (pin.approved === undefined ? [] : [tool])),
    waiting: tools.flatMap(([tool, pin]) => (pin.pending === undefined ? [] : [tool])),
    refused: Object.fromEntries(
      tools.flatMap(([tool, pin]) => (pin.refused === undefined ? [] : [[tool, pin.refused]])),
    ),
  };
}

function show({ name, prefix, target, tools, approved, waiting, refused }: DescribedServer): void {
  printLine(`${paint('bold', name)}  ${plainText(target)}  (prefix ${prefix}, tools ${plainText(tools.join(', '))})`);
  printLine(`  ${approved.length} approved${list(approved)}`);
  if (waiting.length > 0)
    printLine(paint('yellow', `  ${waiting.length} waiting${list(waiting)}: tool-runtime mcp approve ${name}`));
  for (const [tool, reason] of Object.entries(refused)) printLine(`  refused ${plainText(`${tool}: ${reason}`)}`);
}

function list(names: readonly string[]): string {
  return names.length === 0 ? '' : `: ${plainText(names.join(', '))}`;
}
