/** The runtime behind a stdio server. Loaded on first use: an opening handshake does not wait for it. */
import type { ApprovalDispatcher, Runtime } from '@tool-runtime/sdk';
import type { SharedOptions } from '../../cli/command.ts';
import { showWarning } from '../../cli/terminal.ts';
import { lazyGateway } from '../gateway/lazy-gateway.ts';

export async function openLocalRuntime(options: SharedOptions, approvals: ApprovalDispatcher): Promise<Runtime> {
  const [{ createRuntime }, { createAst }] = await Promise.all([
    import('@tool-runtime/sdk'),
    import('@tool-runtime/ast'),
  ]);
  const runtime = await createRuntime({
    workspace: options.workspace,
    ast: createAst(),
    approvals,
    sources: [lazyGateway()],
    ...(options.state === undefined ? {} : { state: options.state }),
    ...(options.registry === undefined ? {} : { registry: options.registry }),
    ...(options.durability === undefined ? {} : { durability: options.durability }),
  });
  for (const { message } of runtime.warnings) showWarning(message);
  return runtime;
}
