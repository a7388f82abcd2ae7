/** The sandbox's own command line around /bin/true, started without judging, recording or reading anything. */
import { mkdirSync } from 'node:fs';
import { openRoot } from '../packages/sdk/src/platform/descriptors/root.ts';
import { createSpawner } from '../packages/sdk/src/platform/processes/spawner.ts';
import { createBubblewrap } from '../packages/sdk/src/platform/sandbox/isolation-bubblewrap.ts';
import { startSandboxed } from '../packages/sdk/src/platform/sandbox/sandboxed-process.ts';

export async function sandboxByHand(workspace: string, folder: string): Promise<() => Promise<void>> {
  mkdirSync(folder, { mode: 0o700 });
  const spawner = createSpawner();
  const isolation = createBubblewrap({ spawner, folder });
  const problem = await isolation.check();
  if (problem !== undefined) throw new TypeError(`The sandbox does not work: ${problem.problem}`);
  const root = openRoot(workspace);
  const sandbox = isolation.enter({ workspace: root, writable: true, proxySocket: null, protectedPaths: [] });
  const confined = sandbox.confine({ program: '/bin/true', args: [], env: {}, cwd: '.' });
  return async () => {
    const ends = { stdin: 'null', stdout: 'null', stderr: 'null' } as const;
    const { ended } = await startSandboxed({ spawner, sandbox }, { name: 'true', confined }, ends);
    await ended;
  };
}
