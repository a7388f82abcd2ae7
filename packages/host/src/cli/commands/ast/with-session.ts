/** A session of one ast command, and how it ends: 0 done, 1 not done or nothing found, 2 bad usage. */
import type { ToolResponse } from '@tool-runtime/protocol';
import { printJson, showError, showWarning } from '../../../terminal/terminal.ts';
import type { SharedOptions } from '../../command.ts';
import { withInterrupt } from '../../interrupt.ts';
import { withRuntime } from '../../open-runtime.ts';

export interface AstSession {
  call(tool: string, args: object): Promise<ToolResponse>;
  /** The data of a call, or undefined when it failed, which has been said then. */
  ask<Data>(tool: string, args: object): Promise<Data | undefined>;
}

export function withAstSession(options: SharedOptions, use: (session: AstSession) => Promise<number>): Promise<number> {
  return withInterrupt(async (signal) => {
    const { showProgress } = await import('../../progress-line.ts');
    return withRuntime(options, async (runtime) => {
      const session = await runtime.openSession({ client: 'tool-runtime ast' });
      const endProgress = showProgress(session, process.stderr);
      const call = (tool: string, args: object) => session.call(tool, args, { signal });
      try {
        return await use({
          call,
          async ask<Data>(tool: string, args: object) {
            const response = await call(tool, args);
            if (!response.ok) showFailure(response, options);
            return response.ok ? (response.data as unknown as Data) : undefined;
          },
        });
      } finally {
        endProgress();
      }
    });
  });
}

/** Says what went wrong; with `--json` as the whole response. */
export function showFailure(response: ToolResponse, { json }: SharedOptions): void {
  if (json === true) printJson(response, { compact: true });
  for (const { code, message, details } of response.errors) {
    const next = details?.['next'];
    showError(`${code} ${message}`, typeof next === 'string' ? next : undefined);
  }
}

export function showWarnings({ warnings }: ToolResponse): void {
  for (const { message } of warnings) showWarning(message);
}
