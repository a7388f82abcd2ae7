/** The sandbox against hostile bash lines: as root, whom the kernel would let do nearly everything, and as an unprivileged user. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chownSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const CHILD = new URL('./bash-attack-child.ts', import.meta.url).pathname;
const NOBODY = 65534;

const EXPECTED: Readonly<Record<string, string>> = {
  'write outside': 'refused',
  'write inside': 'ok x',
  'append to a canary': 'refused',
  'read outside': 'refused',
  'read inside': 'ok inside',
  'list outside': 'refused',
  'list inside': 'ok file',
  'write to the system': 'refused',
  'write to temporary and home folder': 'ok',
  'through a link': 'refused',
  'through a link inside': 'ok inside',
  'through a link to a file': 'refused',
  'through a hard link': 'refused',
  'through a hard link inside': 'ok inside',
  'climb by dots': 'refused',
  'the root of another process': 'refused',
  'its own root': 'refused',
  'open descriptors': 'ok 0',
  'write to .git': 'refused',
  'plant a hook': 'refused',
  'move .git away': 'refused',
  'set a git setting': 'refused',
  'commit with git': 'refused',
  'read with git': 'ok 1',
  'unmount what guards .git': 'refused',
  'write to the registry': 'refused',
  'replace the registry': 'refused',
  'write to the lock': 'refused',
  'read the registry': 'ok version: 1',
  'read the state folder': 'refused',
  'write to the state folder': 'refused',
  'secrets in the environment': 'refused',
  'what env gave': 'ok given',
  'TCP to the host': 'refused',
  'TCP to the host, no sandbox': 'ok REACHED',
  'TCP to its own loopback': 'ok up',
  'UDP to the host': 'twin',
  'a name of the internet': 'refused',
  'a name of its own': 'ok',
  'a socket file outside': 'refused',
  'a socket file outside, no sandbox': 'ok',
  'a socket file in the workspace': 'ok',
  'an abstract socket': 'refused',
  'an abstract socket, no sandbox': 'ok',
  'signal a process of the host': 'refused',
  'signal a process of the host, no sandbox': 'ok',
  'signal itself': 'ok',
  'trace a process of the host': 'refused',
  'see processes': 'ok few',
  'mount something': 'refused',
  'make a namespace': 'refused',
  'change the root': 'refused',
  'make a device': 'refused',
  'use a device': 'ok 4',
  'read memory or disks': 'refused',
  'write a setting of the kernel': 'refused',
  'have capabilities': 'refused',
  'gain privileges': 'ok never',
  'write to a terminal': 'refused',
  limits: 'ok set',
  'raise a limit': 'refused',
  'print without end': '50000000 true',
  'run without end': 'E_TIMEOUT, 0 left',
  'left behind: background': 'ok started, 0 left',
  'left behind: setsid': 'ok started, 0 left',
  'left behind: nohup': 'ok started, 0 left',
  'left behind: double fork': 'ok started, 0 left',
  'left behind: coprocess': 'ok started, 0 left',
  'left behind: two hundred': 'ok started, 0 left',
};

for (const uid of process.getuid?.() === 0 ? [0, NOBODY] : [process.getuid?.() ?? NOBODY]) {
  for (const network of ['own', 'shared'])
    test(`bash lines of user ${uid}, loopback ${network}, change nothing outside, reach nothing and leave nothing [S0-36 S0-37 S0-38]`, async (t) => {
      const base = realpathSync(mkdtempSync(join(tmpdir(), 'bash-attacks-')));
      t.after(() => rmSync(base, { recursive: true, force: true }));
      if (process.getuid?.() === 0) chownSync(base, uid, uid);
      const words = ['-C', 'tool-runtime-source', CHILD, base, String(uid), network];
      const { stdout } = await promisify(execFile)(process.execPath, words);
      const { report, ...rest } = JSON.parse(stdout);
      assert.deepEqual(rest, {
        uid,
        isShared: network === 'shared',
        changed: [],
        isVictimAlive: true,
        canaryStays: true,
      });
      assert.deepEqual(report, EXPECTED);
    });
}
