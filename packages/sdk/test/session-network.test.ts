/** The loopback that commands of a session share: reached only by them. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chownSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const CHILD = new URL('./session-network-child.ts', import.meta.url).pathname;
const NOBODY = 65534;

const EXPECTED = {
  'a later command reaches the server': 'ok hello',
  'another session reaches it': 'refused',
  'the host reaches it': 'refused',
  'a command reaches a server of the host': 'refused',
  'a command reaches an abstract socket of the host': 'refused',
  'later commands share one network': true,
  'it is not that of the host': true,
  'another session has another': true,
  'without a job every command has its own': true,
  'the server is gone': 'refused',
  'jobs ended with their session': 'SIGKILL',
  'no descriptor is left': true,
};

const WITH_NETWORK = { 'a command with network reaches it': 'refused', 'a command with network has its own': true };

for (const uid of process.getuid?.() === 0 ? [0, NOBODY] : [process.getuid?.() ?? NOBODY]) {
  test(`commands of user ${uid} reach a server that runs as a job of their session, and nothing else [S0-36]`, async (t) => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'session-network-')));
    t.after(() => rmSync(base, { recursive: true, force: true }));
    if (process.getuid?.() === 0) chownSync(base, uid, uid);
    const words = ['-C', 'tool-runtime-source', CHILD, base, String(uid)];
    const { stdout } = await promisify(execFile)(process.execPath, words);
    const report = { ...EXPECTED, ...(uid === process.getuid?.() ? WITH_NETWORK : {}) };
    assert.deepEqual(JSON.parse(stdout), { uid, report });
  });
}
