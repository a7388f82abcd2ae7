/** No wall: processes run as we do. Their group can still be killed; the network cannot be kept from them. */
import { homedir, tmpdir } from 'node:os';
import type { Isolation } from '../../contracts/commands.ts';
import { startingFolder } from './starting-folder.ts';

export function createNoIsolation(): Isolation {
  return {
    name: 'none',
    enforcesNetwork: false,
    check: async () => undefined,
    enter: (request) => ({
      places: { home: homedir(), temporary: tmpdir() },
      confine: (program) => ({ ...program, cwd: startingFolder(program, request), reports: false, pauses: false }),
      verify: () => true,
      verifyEarly: () => true,
      settle: async (end) => end,
      leave: () => [],
    }),
  };
}
