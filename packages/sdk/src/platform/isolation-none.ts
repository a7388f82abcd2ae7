/** No wall: processes run as we do. Their group can still be killed; the network cannot be kept from them. */
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Isolation } from '../contracts/commands.ts';

export function createNoIsolation(): Isolation {
  return {
    name: 'none',
    enforcesNetwork: false,
    check: async () => undefined,
    enter: ({ workspace }) => ({
      places: { home: homedir(), temporary: tmpdir() },
      confine: (program) => ({ ...program, cwd: join(workspace, program.cwd), reports: false }),
      settle: async (end) => end,
      leave: () => [],
    }),
  };
}
