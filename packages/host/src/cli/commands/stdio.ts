/** tool-runtime stdio: envelopes as JSON lines until stdin ends. */

import { hostVersion } from '../../ops/host-version.ts';
import { defineCommand, type SharedOptions, withCassetteOptions, withRuntimeOptions } from '../command.ts';
import { withInterrupt } from '../interrupt.ts';
import { withRuntime } from '../open-runtime.ts';

interface StdioCommandOptions extends SharedOptions {
  readonly events: 'progress' | 'all';
}

export const stdio = defineCommand({
  name: 'stdio',
  summary: 'Speak envelopes as JSON lines on stdin and stdout; the first line out is the SessionAck',
  configure(command, done) {
    withCassetteOptions(withRuntimeOptions(command))
      .addOption(
        command
          .createOption('--events <which>', 'progress of calls, or all to see every change of status')
          .choices(['progress', 'all'])
          .default('progress'),
      )
      .action(async (options: StdioCommandOptions) => {
        await withInterrupt((signal) => serve(options, signal));
        done(0);
      });
  },
});

async function serve(options: StdioCommandOptions, signal: AbortSignal): Promise<void> {
  const { serveStdio } = await import('../../transports/stdio.ts');
  await withRuntime(options, async (runtime) => {
    const session = await runtime.openSession({ client: 'tool-runtime stdio' });
    await serveStdio(session, {
      input: process.stdin,
      output: process.stdout,
      serverVersion: hostVersion(),
      maxRequestBytes: runtime.registry.limits.max_request_bytes,
      maxInFlight: runtime.registry.limits.max_in_flight,
      events: options.events,
      signal,
    });
  });
}
