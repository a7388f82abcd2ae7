/** The runtime behind a stdio server. Loaded on first use: an opening handshake does not wait for it. */
import { resolve } from 'node:path';
import type { ApprovalDispatcher, Runtime } from '@tool-runtime/sdk';
import { showWarning } from '../../terminal/terminal.ts';
import type { WorkspaceOptions } from '../../terminal/workspace-folder.ts';
import { lazyGateway } from '../gateway/lazy-gateway.ts';

export async function openLocalRuntime(options: WorkspaceOptions, approvals: ApprovalDispatcher): Promise<Runtime> {
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
    ...(options.witness === undefined ? {} : { witness: { file: resolve(options.witness) } }),
  });
  for (const { message } of runtime.warnings) showWarning(message);
  return runtime;
}
