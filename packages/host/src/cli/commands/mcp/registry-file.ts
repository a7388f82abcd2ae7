/** The registry that `mcp add` and `mcp remove` edit: the operator's file, or the one of the workspace. */
import { join, parse, resolve } from 'node:path';
import type { ConfigPlace } from '../../../mcp/install/config-file.ts';
import { checkWorkspace } from '../../../terminal/workspace-folder.ts';
import type { SharedOptions } from '../../command.ts';

const FILE = 'tool-runtime.yaml';

export function registryPlace({ workspace, registry }: SharedOptions): ConfigPlace {
  checkWorkspace(workspace);
  // A file the operator names may lie, and lead, anywhere.
  if (registry !== undefined) return { path: resolve(registry), root: parse(resolve(registry)).root };
  return { path: join(resolve(workspace), FILE), root: resolve(workspace) };
}

/** As a runtime will read it: a file that none would open is not worth writing. */
export async function checkRegistry(text: string, { path }: ConfigPlace, options: SharedOptions): Promise<void> {
  const [{ createRuntime }, { createAst }, { stateOf }] = await Promise.all([
    import('@tool-runtime/sdk'),
    import('@tool-runtime/ast'),
    import('../../state-of.ts'),
  ]);
  const runtime = await createRuntime({
    workspace: options.workspace,
    state: stateOf(options),
    ast: createAst(),
    registry: { text, file: path },
  });
  await runtime.close();
}

/** A changed workspace registry is no longer the one that was trusted. */
export function noteTrust({ registry }: SharedOptions): void {
  if (registry === undefined) process.stderr.write('read it, then: tool-runtime trust\n');
}
