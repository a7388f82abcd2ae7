/** Creates the runtime a command asked for. The SDK is loaded here, so that `--help` does not pay for it. */
import type { Runtime } from '@tool-runtime/sdk';
import type { SharedOptions } from './command.ts';
import { showWarning } from './terminal.ts';
import { checkWorkspace } from './workspace-folder.ts';

async function openRuntime(options: SharedOptions): Promise<Runtime> {
  checkWorkspace(options.workspace);
  const { createRuntime } = await import('@tool-runtime/sdk');
  const runtime = await createRuntime({
    workspace: options.workspace,
    ...(options.state === undefined ? {} : { state: options.state }),
    ...(options.registry === undefined ? {} : { registry: options.registry }),
  });
  for (const warning of runtime.warnings) showWarning(describeWarning(warning));
  return runtime;
}

export async function withRuntime<T>(options: SharedOptions, use: (runtime: Runtime) => Promise<T> | T): Promise<T> {
  const runtime = await openRuntime(options);
  try {
    return await use(runtime);
  } finally {
    await runtime.close();
  }
}

function describeWarning({ message, details = {} }: Runtime['warnings'][number]): string {
  const { registry, next } = details;
  const place = typeof registry === 'string' && !message.startsWith(registry) ? `${registry} ` : '';
  return `${place}${message}${typeof next === 'string' ? ` (${next})` : ''}`;
}
