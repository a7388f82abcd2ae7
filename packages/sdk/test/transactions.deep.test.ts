/** Attacks from inside a transaction, as root and as an ordinary user, each with a twin that must succeed. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chownSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const NOBODY = 65534;
const USERS = process.getuid?.() === 0 ? [0, NOBODY] : [process.getuid?.() ?? NOBODY];
const CHILD = new URL('./transaction-attack-child.ts', import.meta.url).pathname;

for (const user of USERS) {
  test(`a transaction leads nowhere out of its tree and commits files, links and folders only, as user ${user}`, async (t) => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'transactions-')));
    t.after(() => rmSync(base, { recursive: true, force: true }));
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(base, user, user);
    const { stdout } = await promisify(execFile)(process.execPath, ['-C', 'tool-runtime-source', CHILD, base], {
      env: { PATH: process.env['PATH'], HOME: base },
      ...(isRoot ? { uid: user, gid: user } : {}),
    });
    const { answers, ...found } = JSON.parse(stdout);
    const allowed = Object.entries(answers).filter(([, answer]) => answer === 'ok');
    assert.deepEqual(
      allowed.map(([name]) => name),
      [
        'begin',
        'replace a folder by a link',
        'read a link that stays inside',
        'write beside what governs',
        'read a folder outside of the workspace',
        'set bits, pipes and devices',
        'write through /proc',
        'commit',
      ],
      JSON.stringify(answers),
    );
    assert.deepEqual(found, {
      uid: user,
      names: ['.git', 'alias', 'conf', 'elevated', 'near', 'own', 'room', 'sub', 'up'],
      kept: ['conf/policy\n', 'conf/secret\n', 'evil\n', '.git/config\n'],
      hooks: ['config'],
      isLink: true,
      mode: '755',
      outside: ['outside\n'],
      extra: 'extra\n',
      found: ['conf/plain'],
    });
  });
}
