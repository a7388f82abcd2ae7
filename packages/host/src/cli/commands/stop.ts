/** tool-runtime stop: ends the host of this workspace after its running calls, or at once. */
import { setTimeout as pause } from 'node:timers/promises';
import { printJson, printLine } from '../../terminal/terminal.ts';
import { defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';
import { wholeNumber } from '../option-values.ts';

interface StopOptions extends SharedOptions {
  readonly timeout: number;
}

const LOOK_EVERY_MS = 50;

export const stop = defineCommand({
  name: 'stop',
  summary: 'Stop the running host of this workspace after its running calls',
  configure(command, done) {
    withSharedOptions(command)
      .option('--timeout <seconds>', 'how long to wait for it to be gone', wholeNumber('--timeout', 1), 60)
      .action(async (options: StopOptions) => {
        await stopHost(options);
        if (options.json === true) printJson({ stopped: true }, { compact: true });
        else printLine('stopped');
        done(0);
      });
  },
});

async function stopHost(options: StopOptions): Promise<void> {
  const { ToolError } = await import('@tool-runtime/protocol');
  const { askHost, runningHost } = await import('../ask-host.ts');
  const { stateOf } = await import('../state-of.ts');
  const state = stateOf(options);
  const { pid } = runningHost(state);
  await askHost(state, { method: 'POST', path: '/v1/drain' });
  for (const end = Date.now() + options.timeout * 1000; Date.now() < end; await pause(LOOK_EVERY_MS)) {
    if (!isRunning()) return;
  }
  throw new ToolError('E_TIMEOUT', `The host still waits for running calls: process ${pid}`, {
    details: { next: 'wait longer with --timeout, or send the process SIGTERM again to cancel them' },
  });

  function isRunning(): boolean {
    try {
      return runningHost(state).pid === pid;
    } catch {
      return false; // That there is no host is what we wait for.
    }
  }
}
