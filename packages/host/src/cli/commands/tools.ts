/** tool-runtime tools: what a session may call, and what it may not and why. */
import type { HiddenTool, Runtime, Session, ToolListing } from '@tool-runtime/sdk';
import { paint, plainText, printJson, printLine, showError } from '../../terminal/terminal.ts';
import { defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';
import { withRuntime } from '../open-runtime.ts';

interface ToolsOptions extends SharedOptions {
  readonly cost?: boolean;
}

export const tools = defineCommand({
  name: 'tools',
  summary: 'List the tools this workspace and registry allow, and why others are hidden',
  configure(command, done) {
    withSharedOptions(command)
      .argument('[name]', 'show one tool with its schemas')
      .option('--cost', 'token cost of each definition over MCP, and of the profiles')
      .action(async (name: string | undefined, options: ToolsOptions) => {
        const code = await withRuntime(options, async (runtime) => {
          if (options.cost === true) return showCost(runtime, name, options);
          const session = await runtime.openSession({ client: 'tool-runtime tools' });
          return name === undefined ? listTools(session, options) : showTool(session, name, options);
        });
        done(code);
      });
  },
});

async function showCost(runtime: Runtime, name: string | undefined, options: ToolsOptions): Promise<number> {
  const { printCost } = await import('../print-cost.ts');
  const { tools: listings } = await runtime.preview({ client: 'tool-runtime tools' });
  return printCost(listings, { name, json: options.json === true, lists: runtime.registry.toolProfiles });
}

function listTools(session: Session, options: SharedOptions): number {
  const [usable, hidden] = [session.tools(), session.hidden()];
  if (options.json === true) printJson({ tools: usable, hidden }, { compact: true });
  else for (const line of [...usable.map(usableLine), ...hidden.map(hiddenLine)]) printLine(line);
  return 0;
}

/** Exit 0 only for a tool that can be called. */
function showTool(session: Session, name: string, options: SharedOptions): number {
  const usable = session.tools(name)[0];
  const found = usable ?? session.hidden().find((tool) => tool.name === name);
  if (found !== undefined) printJson(found, { compact: options.json === true });
  else showError(`No such tool: ${name}`, 'run: tool-runtime tools');
  return usable === undefined ? 1 : 0;
}

function usableLine({ name, summary, sideEffectLevel }: ToolListing): string {
  return `${paint('bold', name.padEnd(16))} ${plainText(summary)} ${paint('dim', `(${sideEffectLevel})`)}`;
}

function hiddenLine({ name, reason, registry }: HiddenTool): string {
  const place = registry === undefined ? '' : ` (${registry})`;
  return paint('dim', `${name.padEnd(16)} hidden: ${plainText(`${reason}${place}`)}`);
}
