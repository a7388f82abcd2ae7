/** The sets of the suite a client has to pass. Ours is the gateway, which is a client of every server it mounts. */
import { fileURLToPath } from 'node:url';
import { SET_LIMIT_MS, SUITE, type SuiteSet } from './run-suite.ts';

const CLIENT = fileURLToPath(import.meta.resolve('../gateway-client.ts'));
const IN_TURN = fileURLToPath(import.meta.resolve('./run-client.sh'));

export const CLIENT_SETS: readonly SuiteSet[] = ['2025-11-25', '2026-07-28'].map((revision) => ({
  name: `client ${revision}`,
  command: [
    SUITE,
    'client',
    '--command',
    `${IN_TURN} ${process.execPath} -C tool-runtime-source ${CLIENT}`,
    '--requirements',
    revision,
    // `run-client.sh` limits the time of each client; this one includes its wait.
    '--timeout',
    String(SET_LIMIT_MS),
  ],
}));
