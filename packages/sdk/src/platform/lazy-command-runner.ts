/** A runner whose code (spawning, isolation, proxy) is loaded with the first command: most sessions never run one. */
import type { OpenCommandRunner } from '../contracts/commands.ts';
import type { CommandRunnerOptions } from './command-runner.ts';

export function lazyCommandRunner(options: CommandRunnerOptions): OpenCommandRunner {
  let opening: Promise<OpenCommandRunner> | undefined;
  return {
    async start(request) {
      opening ??= import('./command-runner.ts').then(({ createCommandRunner }) => createCommandRunner(options));
      return (await opening).start(request);
    },
    async close() {
      const runner = await opening?.catch(() => undefined);
      await runner?.close();
    },
  };
}
