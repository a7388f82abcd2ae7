/** Opens the runtime for a command. The engine behind code intelligence is loaded with the first question about code. */
import { resolve } from 'node:path';
import { createAst } from '@tool-runtime/ast';
import { type ApprovalDispatcher, createRuntime, type Runtime } from '@tool-runtime/sdk';
import { lazyGateway } from '../mcp/gateway/lazy-gateway.ts';
import { showRuntimeWarning } from '../terminal/terminal.ts';
import { checkWorkspace, type WorkspaceOptions } from '../terminal/workspace-folder.ts';
import { cassetteOf } from './command.ts';

export async function openRuntime(options: WorkspaceOptions, approvals?: ApprovalDispatcher): Promise<Runtime> {
  checkWorkspace(options.workspace);
  const runtime = await createRuntime({
    workspace: options.workspace,
    ast: createAst(),
    sources: [lazyGateway()],
    ...(approvals === undefined ? {} : { approvals }),
    ...(options.state === undefined ? {} : { state: options.state }),
    ...(options.registry === undefined ? {} : { registry: options.registry }),
    ...(options.examples === undefined ? {} : { examples: options.examples }),
    ...(options.durability === undefined ? {} : { durability: options.durability }),
    ...(options.witness === undefined ? {} : { witness: { file: resolve(options.witness) } }),
    ...cassetteOf(options),
  });
  for (const warning of runtime.warnings) showRuntimeWarning(warning);
  return runtime;
}

export async function withRuntime<T>(options: WorkspaceOptions, use: (runtime: Runtime) => Promise<T> | T): Promise<T> {
  const runtime = await openRuntime(options);
  try {
    return await use(runtime);
  } finally {
    await runtime.close();
  }
}
