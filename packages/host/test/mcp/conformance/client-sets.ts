/** The sets of the suite a client has to pass. Ours is the gateway, which is a client of every server it mounts. */
import { fileURLToPath } from 'node:url';
import { SET_LIMIT_MS, SUITE, type SuiteSet } from './run-suite.ts';

const CLIENT = fileURLToPath(import.meta.resolve('../gateway-client.ts'));
const IN_TURN = fileURLToPath(import.meta.resolve('./run-client.sh'));

/**
 * Extensions that the suite does not score, and that hold here. Left out: `auth/enterprise-managed-authorization` and
 * `auth/wif-jwt-bearer` (a program that has such an assertion brings its own provider), `sep-2640-*` (skills are not used).
 */
const UNSCORED = ['auth/client-credentials-basic', 'auth/client-credentials-jwt', 'auth/dpop', 'auth/dpop-nonce'];

export const CLIENT_SETS: readonly SuiteSet[] = [
  ...['2025-11-25', '2026-07-28'].map((revision) => clientSet(`client ${revision}`, ['--requirements', revision])),
  ...UNSCORED.map((scenario) => clientSet(`client, unscored ${scenario}`, ['--scenario', scenario])),
];

function clientSet(name: string, which: readonly string[]): SuiteSet {
  const client = `${IN_TURN} ${process.execPath} -C tool-runtime-source ${CLIENT}`;
  // `run-client.sh` limits the time of each client; this one includes its wait.
  const limit = ['--timeout', String(SET_LIMIT_MS)];
  return { name, command: [SUITE, 'client', '--command', client, ...which, ...limit] };
}
