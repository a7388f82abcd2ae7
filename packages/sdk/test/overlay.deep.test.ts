/** Commands on an overlay, as root and as an ordinary user: what is applied, and that nothing else is touched. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';

const NOBODY = 65534;
const USERS = process.getuid?.() === 0 ? [0, NOBODY] : [process.getuid?.() ?? NOBODY];

/** A program of its own: one that changes its user while it runs cannot be looked into by its children. */
async function runChild(t: TestContext, name: string, user: number, only = '') {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'overlay-')));
  t.after(() => {
    if (only === 'full') execFileSync('/usr/bin/umount', ['-l', join(base, 'state')]);
    rmSync(base, { recursive: true, force: true });
  });
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(base, user, user);
  if (only === 'full') mountSmall(join(base, 'state'), user);
  const words = ['-C', 'tool-runtime-source', new URL(name, import.meta.url).pathname, base, only];
  const { stdout } = await promisify(execFile)(process.execPath, words, {
    maxBuffer: 64 * 1024 * 1024,
    env: { PATH: process.env['PATH'], HOME: base },
    ...(isRoot ? { uid: user, gid: user } : {}),
  });
  const { uid, ...answer } = JSON.parse(stdout);
  assert.equal(uid, user);
  return answer;
}

const SMALL = 'size=96m,mode=700';

/** A file system of 96 MiB for the state; only root can mount one. */
function mountSmall(folder: string, user: number): void {
  mkdirSync(folder, { mode: 0o700 });
  execFileSync('/usr/bin/mount', ['-t', 'tmpfs', '-o', `${SMALL},uid=${user},gid=${user}`, 'tmpfs', folder]);
}

interface Attack {
  readonly isOutsideSame: boolean;
  readonly isWorkspaceSame: boolean;
  readonly intruders: readonly string[];
  readonly attributes: string;
  readonly reason?: string;
  readonly warnings: readonly string[];
  readonly effects?: { readonly added: readonly string[]; readonly left_out?: readonly { readonly path: string }[] };
}

const TOO_LARGE = ['a deep tree', 'a hundred thousand files', 'more bytes than may be recorded'];

for (const user of USERS) {
  test(`nothing but files, links and folders of the workspace is applied, as user ${user} [S0-36]`, async (t) => {
    const { report, left } = (await runChild(t, './overlay-attack-child.ts', user)) as {
      report: Record<string, Attack>;
      left: readonly string[];
    };
    for (const [name, found] of Object.entries(report)) {
      assert.deepEqual(
        [found.isOutsideSame, found.intruders, found.attributes, found.warnings],
        [true, [], '', []],
        name,
      );
      const isTooLarge = TOO_LARGE.includes(name);
      assert.equal(found.reason, isTooLarge ? 'effects_too_large' : undefined, name);
      if (isTooLarge) assert.equal(found.isWorkspaceSame, true, name);
    }
    const leftOut = (name: string) => (report[name]?.effects?.left_out ?? []).map(({ path }) => path).sort();
    assert.deepEqual(leftOut('devices, pipes and sockets'), ['pipe', 'socket']);
    assert.deepEqual(leftOut('set-user-id bits'), ['elevated', 'own']);
    assert.deepEqual(leftOut('protected names'), ['.git', 'tool-runtime.lock', 'tool-runtime.yaml']);
    // What is harmless in the same commands is applied.
    assert.deepEqual(report['protected names']?.effects?.added, ['other']);
    assert.deepEqual(report['writes through what is a link now']?.effects?.added, ['beside']);
    assert.deepEqual(left, []);
  });

  test(`a command leaves the same tree directly and on an overlay, as user ${user} [S0-36]`, async (t) => {
    const { trees } = await runChild(t, './overlay-tree-child.ts', user);
    const cases = Object.entries<readonly (readonly string[])[]>(trees);
    assert.ok(cases.length > 20);
    for (const [line, [direct, recorded]] of cases) assert.deepEqual(recorded, direct, line);
  });

  test(`a command that fills the upper layer leaves nothing half applied, and the next one works, as user ${user}`, async (t) => {
    assert.equal(process.getuid?.(), 0, 'run this test as root: it mounts a small file system');
    const { report, left } = (await runChild(t, './overlay-attack-child.ts', user, 'full')) as {
      report: Record<string, Attack>;
      left: readonly string[];
    };
    const [full, next] = [report['fills the upper layer'], report['the command after it']];
    assert.deepEqual([full?.isOutsideSame, full?.intruders], [true, []]);
    // Either the whole of what the command managed to write, as on a full disk without an overlay, or nothing.
    if (full?.reason !== undefined) assert.equal(full.isWorkspaceSame, true);
    assert.deepEqual([next?.reason, next?.effects?.added], [undefined, ['small']]);
    assert.deepEqual(left, []);
  });
}
