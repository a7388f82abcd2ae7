/** fleet call: one call to a workspace of a fleet, whichever host holds it. */
import { isToolError, type JsonObject } from '@tool-runtime/protocol';
import type { Command } from 'commander';
import { printJson, showError } from '../../../terminal/terminal.ts';
import { parseSource } from '../../call-args.ts';
import type { Done } from '../../command.ts';
import { wholeNumber } from '../../option-values.ts';
import { type FleetVerbOptions, loadClient, loadOperate, withFleetOptions } from './load.ts';

interface CallVerbOptions extends FleetVerbOptions {
  readonly workspace: string;
  readonly key?: string;
  readonly wait: number;
}

export function addCall(command: Command, done: Done): void {
  withFleetOptions(
    command
      .command('call')
      .argument('<tool>', 'wire name, such as file_read')
      .argument('[args]', 'a JSON object, @file, or - for stdin', '{}')
      .description('Call one tool in a workspace of the fleet and print its ToolResponse'),
  )
    .requiredOption('--workspace <name>', 'name of the workspace in the fleet')
    .option('--key <key>', 'idempotency key: repeating the call repeats the answer, not the effect')
    .option('--wait <ms>', 'how long to wait for a host that holds the workspace', wholeNumber('--wait', 0), 0)
    .action(async (tool: string, args: string, options: CallVerbOptions) => {
      const [{ connectToFleet }, { readFleetFile }] = await Promise.all([loadClient(), loadOperate()]);
      const { servers, credentials, tls, tenant } = readFleetFile(options.fleet);
      try {
        const client = await connectToFleet({
          servers,
          credentials,
          tenant,
          ...(tls === undefined ? {} : { tls }),
          workspace: options.workspace,
          waitMs: options.wait,
          session: { client: { name: 'tool-runtime fleet call' } },
        });
        const key = options.key === undefined ? {} : { idempotencyKey: options.key };
        const answer = await client.call(tool, (await parseSource(args)) as JsonObject, key);
        printJson(answer, { compact: options.json === true });
        await client.close();
        done(answer.ok ? 0 : 1);
      } catch (thrown) {
        if (!isToolError(thrown)) throw thrown;
        const { next } = thrown.details;
        showError(`${thrown.code}: ${thrown.message}`, typeof next === 'string' ? next : undefined);
        done(1);
      }
    });
}
