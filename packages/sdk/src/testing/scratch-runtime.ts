/** A runtime on a folder of its own, for tests and examples; gone with one call. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, type Runtime, type RuntimeOptions, type SessionOptions } from '../runtime.ts';
import type { Session } from '../session/session.ts';

export interface ScratchRuntime {
  readonly runtime: Runtime;
  readonly session: Session;
  /** Absolute path of the workspace root. */
  readonly workspace: string;
  readonly state: string;
  /** Closes the runtime and removes both folders. */
  dispose(): Promise<void>;
}

export async function openScratchRuntime(
  options: Partial<RuntimeOptions> = {},
  sessionOptions: SessionOptions = {},
): Promise<ScratchRuntime> {
  const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-scratch-'));
  const workspace = join(scratch, 'workspace');
  const state = join(scratch, 'state');
  mkdirSync(workspace);
  const runtime = await createRuntime({ workspace, state, ...options });
  const session = await runtime.openSession(sessionOptions);
  return {
    runtime,
    session,
    workspace,
    state,
    async dispose() {
      await runtime.close();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}
