/** The sandbox against hostile programs: as root, whom the kernel would let do nearly everything, and as an unprivileged user. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chownSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const CHILD = new URL('./sandbox-attack-child.ts', import.meta.url).pathname;
const NOBODY = 65534;

const EXPECTED: Readonly<Record<string, string>> = {
  'write outside': 'false',
  'write inside': 'true',
  'write to the system': 'refused',
  'write to temporary and home folder': 'ok',
  'find it again in the next command': 'refused',
  'read the home folder': 'refused',
  'read the home folder, no wall': 'ok CANARY',
  'read what is shown': 'ok TOOL',
  'write what is shown': 'refused',
  'read state inside what is shown': 'refused',
  'change git data': 'refused',
  'unmount the guard of git data': 'refused',
  'connect to loopback': 'refused',
  'connect to loopback, no wall': 'ok',
  'connect to a loopback of its own': 'ok',
  'connect to a socket file': 'refused',
  'connect to a socket file, no wall': 'ok',
  'connect to an abstract socket': 'refused',
  'connect to an abstract socket, no wall': 'ok',
  'signal a process of the host': 'refused',
  'signal a process of the host, no wall': 'ok',
  'see processes': 'ok few',
  'trace a process of the host': 'refused',
  'be traced by its parent': 'ok',
  'remount the system': 'refused',
  'mount something': 'refused',
  'make a user namespace': 'refused',
  'make a user namespace, no wall': 'ok',
  'read a setting of the kernel': 'ok',
  'write a setting of the kernel': 'refused',
  'have capabilities': 'refused',
  'open descriptors': 'ok 0 1 2 3',
  'read input when there is none': 'ok',
  'write to a terminal': 'refused',
  'outlive the kill': 'alive then dead',
  'outlive the command': 'alive then dead',
  'fork without end': '0 left',
  'print without end': '1000000000 true flat',
  'write a large file': 'SIGXFSZ',
  'write a small file': 'ok',
  'use much memory': 'refused',
  'use some memory': 'ok 20000000',
  'show secrets on command lines': 'true 0',
};

const USERS = process.getuid?.() === 0 ? [0, NOBODY] : [process.getuid?.() ?? NOBODY];
const CASES = USERS.flatMap((uid) => (['own', 'shared'] as const).map((network) => ({ uid, network })));

for (const { uid, network } of CASES) {
  test(`the sandbox holds for user ${uid} with ${network} loopback, and lets through what it should [S0-36 S0-37 S0-38]`, async (t) => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'wall-')));
    t.after(() => rmSync(base, { recursive: true, force: true }));
    if (process.getuid?.() === 0) chownSync(base, uid, uid);
    const { stdout } = await promisify(execFile)(process.execPath, [
      '-C',
      'tool-runtime-source',
      CHILD,
      base,
      String(uid),
      network,
    ]);
    const { uid: ranAs, report } = JSON.parse(stdout);
    const { 'count of processes': processes, ...rest } = report;
    assert.equal(ranAs, uid);
    assert.deepEqual(rest, EXPECTED);
    // The kernel does not count processes against root; there only the kill bounds them.
    if (uid !== 0) assert.ok(Number(processes.split(' ')[1]) < 50, processes);
  });
}
