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

/** What a command is needed for is not possible on a copy. */
const BY_COMMAND = ['replace a folder by a link', 'set bits, pipes and devices', 'write through /proc'];
const GROUNDS = [
  { ground: 'overlay', isWithCommands: true, names: ['elevated'], mode: '0755' },
  { ground: 'copy', isWithCommands: false, names: [], mode: 'none' },
] as const;

for (const { ground, isWithCommands, names, mode } of GROUNDS)
  for (const user of USERS) {
    test(`a transaction on ${ground === 'copy' ? 'a copy' : 'an overlay'} leads nowhere out of its tree and commits files, links and folders only, as user ${user}`, async (t) => {
      const base = realpathSync(mkdtempSync(join(tmpdir(), 'transactions-')));
      t.after(() => rmSync(base, { recursive: true, force: true }));
      const isRoot = process.getuid?.() === 0;
      if (isRoot) chownSync(base, user, user);
      const words = ['-C', 'tool-runtime-source', CHILD, base, ground];
      const { stdout } = await promisify(execFile)(process.execPath, words, {
        env: { PATH: process.env['PATH'], HOME: base },
        ...(isRoot ? { uid: user, gid: user } : {}),
      });
      const { answers, ...found } = JSON.parse(stdout);
      const allowed = Object.entries(answers).filter(([, answer]) => answer === 'ok');
      const expected = [
        'begin',
        'replace a folder by a link',
        'read a link that stays inside',
        'write beside what governs',
        'read a folder outside of the workspace',
        'set bits, pipes and devices',
        'write through /proc',
        'commit',
      ];
      assert.deepEqual(
        allowed.map(([name]) => name),
        expected.filter((name) => isWithCommands || !BY_COMMAND.includes(name)),
        JSON.stringify(answers),
      );
      if (!isWithCommands) for (const name of BY_COMMAND) assert.equal(answers[name], 'no_overlay', name);
      assert.deepEqual(found, {
        uid: user,
        names: ['.git', 'alias', 'conf', ...names, 'near', 'own', 'room', 'sub', 'up'],
        kept: ['conf/policy\n', 'conf/secret\n', 'evil\n', '.git/config\n'],
        hooks: ['config'],
        isLink: true,
        mode,
        outside: ['outside\n'],
        extra: 'extra\n',
        found: ['conf/plain'],
      });
    });
  }
