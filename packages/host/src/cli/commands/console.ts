/** tool-runtime console: a link to the console of the running host, which works once. */
import type { ConsoleRole } from '@tool-runtime/protocol';
import { printJson, printLine } from '../../terminal/terminal.ts';
import { defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';

interface ConsoleOptions extends SharedOptions {
  readonly role: ConsoleRole;
}

export const console = defineCommand({
  name: 'console',
  summary: 'Print a link to the console of the running host; it works once, within ten minutes',
  configure(command, done) {
    withSharedOptions(command)
      .addOption(
        command
          .createOption('--role <role>', 'viewer sees everything; approver also answers questions and tries tools')
          .choices(['viewer', 'approver'])
          .default('approver'),
      )
      .action(async ({ role, ...options }: ConsoleOptions) => {
        const { consoleLinkSchema, ToolError } = await import('@tool-runtime/protocol');
        const { askHost, runningHost } = await import('../ask-host.ts');
        const { stateOf } = await import('../state-of.ts');
        const state = stateOf(options);
        const { http } = runningHost(state);
        if (http === undefined) {
          throw new ToolError('E_INTERNAL', 'The host of this workspace does not listen for HTTP', {
            details: { reason: 'no_http', next: 'start it without --http none' },
          });
        }
        const answer = await askHost(state, { method: 'POST', path: '/v1/console/links', body: { role } });
        const { path, expires_at } = consoleLinkSchema.parse(answer);
        if (options.json === true) printJson({ url: http + path, role, expires_at }, { compact: true });
        else printLine(http + path);
        done(0);
      });
  },
});
