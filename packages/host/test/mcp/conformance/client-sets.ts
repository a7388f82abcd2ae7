/** The sets of the suite a client has to pass. Ours is the gateway, which is a client of every server it mounts. */
import { fileURLToPath } from 'node:url';
import { SUITE, type SuiteSet } from './run-suite.ts';

const CLIENT = fileURLToPath(import.meta.resolve('../gateway-client.ts'));

export const CLIENT_SETS: readonly SuiteSet[] = ['2025-11-25', '2026-07-28'].map((revision) => ({
  name: `client ${revision}`,
  command: [
    SUITE,
    'client',
    '--command',
    `${process.execPath} -C tool-runtime-source ${CLIENT}`,
    '--requirements',
    revision,
    // All scenarios run at once, each with a process of its own.
    '--timeout',
    '120000',
  ],
}));
