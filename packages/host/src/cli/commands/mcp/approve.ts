/** mcp approve: lets tools of a foreign server be used as they are defined now, after showing their definitions. */
import type { Command } from 'commander';
import type { Pins, ToolPins } from '../../../mcp/gateway/pin-file.ts';
import { badUsage } from '../../../terminal/bad-usage.ts';
import { paint, plainText, printJson, printLine } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';

interface ApproveOptions extends SharedOptions {
  readonly yes?: boolean;
}

export function addApprove(command: Command, done: Done): void {
  withSharedOptions(
    command.command('approve').description('Approve tools of a foreign MCP server as they are defined now'),
  )
    .argument('<server>', 'as mcp list shows it')
    .argument('[tools...]', "by the server's own names (default: all that wait)")
    .option('-y, --yes', 'approve without asking')
    .action(async (server: string, tools: readonly string[], options: ApproveOptions) => {
      done(await approve(server, tools, options));
    });
}

async function approve(server: string, tools: readonly string[], options: ApproveOptions): Promise<number> {
  const [{ refreshServer }, { listPins, approvePins }, { stateOf }, { ask }] = await Promise.all([
    import('../../../mcp/install/refresh-server.ts'),
    import('../../../mcp/gateway/pin-file.ts'),
    import('../../state-of.ts'),
    import('./confirm-change.ts'),
  ]);
  const state = stateOf(options);
  await refreshServer(server, options);
  const waiting = findWaiting(listPins(state), server, tools);
  if (options.json !== true) for (const [name, pin] of waiting) await showPin(name, pin);
  if (waiting.length === 0) return tell([], `nothing of ${server} waits for approval`, options);
  const names = waiting.map(([name]) => name);
  const answer = options.yes === true ? 'yes' : await ask(`Approve ${names.length} of ${server}?`, options);
  if (answer === 'no_terminal') process.stderr.write('nothing approved: use --yes, or run it in a terminal\n');
  if (answer !== 'yes') return answer === 'no_terminal' ? 2 : 1;
  if (digests(findWaiting(listPins(state), server, names)) !== digests(waiting)) {
    throw badUsage(`Definitions changed while you looked at them: ${server}`, 'look again');
  }
  const approved = approvePins(state, server, names);
  return tell(approved, `approved ${approved.join(', ')}`, options);
}

type Waiting = readonly (readonly [string, ToolPins])[];

function findWaiting(pins: Pins, server: string, tools: readonly string[]): Waiting {
  const known = Object.hasOwn(pins, server) ? Object.entries(pins[server]?.tools ?? {}) : [];
  const strange = tools.find((tool) => !known.some(([name]) => name === tool));
  if (strange !== undefined) throw badUsage(`Server has no such tool: ${strange}`, 'see: tool-runtime mcp list');
  return known.filter(([name, pin]) => pin.pending !== undefined && (tools.length === 0 || tools.includes(name)));
}

function digests(waiting: Waiting): string {
  return JSON.stringify(waiting.map(([name, { pending }]) => [name, pending?.digest]));
}

/** What changed since it was approved, or all of it when it is new. */
async function showPin(name: string, { approved, pending }: ToolPins): Promise<void> {
  const [{ lineDiff }, { showDiff }] = await Promise.all([
    import('../../../ops/line-diff.ts'),
    import('./confirm-change.ts'),
  ]);
  const text = (definition: unknown): string =>
    definition === undefined ? '' : `${JSON.stringify(definition, null, 2)}\n`;
  printLine(paint('bold', `${plainText(name)} ${approved === undefined ? 'is new' : 'was changed'}`));
  showDiff(lineDiff(text(approved?.definition), text(pending?.definition), name));
}

function tell(approved: readonly string[], line: string, options: ApproveOptions): 0 {
  if (options.json === true) printJson({ approved }, { compact: true });
  else printLine(plainText(line));
  return 0;
}
