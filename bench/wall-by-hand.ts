/** The wall's own command line around /bin/true, started without judging, recording or reading anything. */
import { mkdirSync } from 'node:fs';
import { createBubblewrap } from '../packages/sdk/src/platform/isolation-bubblewrap.ts';
import { createSpawner } from '../packages/sdk/src/platform/spawner.ts';

export async function wallByHand(workspace: string, folder: string): Promise<() => Promise<void>> {
  mkdirSync(folder, { mode: 0o700 });
  const spawner = createSpawner();
  const isolation = createBubblewrap({ spawner, folder });
  const problem = await isolation.check();
  if (problem !== undefined) throw new TypeError(`The wall does not stand: ${problem.problem}`);
  const wall = isolation.enter({ workspace, writable: true, proxySocket: null, protectedPaths: [] });
  const { program, args, env, cwd } = wall.confine({ program: '/bin/true', args: [], env: {}, cwd: '.' });
  return async () => {
    const started = await spawner.spawn({
      program,
      args,
      env,
      cwd,
      stdin: 'null',
      stdout: 'null',
      stderr: 'null',
      extraFds: ['pipe'],
    });
    for (const report of started.extra) report.resume();
    await started.exited;
  };
}
