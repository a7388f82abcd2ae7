/** Commands on an overlay, as root and as an ordinary user: what is applied, and that nothing else is touched. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chownSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';

const NOBODY = 65534;
const USERS = process.getuid?.() === 0 ? [0, NOBODY] : [process.getuid?.() ?? NOBODY];

/** A program of its own: one that changes its user while it runs cannot be looked into by its children. */
async function runChild(t: TestContext, name: string, user: number) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'overlay-')));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(base, user, user);
  const words = ['-C', 'tool-runtime-source', new URL(name, import.meta.url).pathname, base];
  const { stdout } = await promisify(execFile)(process.execPath, words, {
    maxBuffer: 64 * 1024 * 1024,
    env: { PATH: process.env['PATH'], HOME: base },
    ...(isRoot ? { uid: user, gid: user } : {}),
  });
  const { uid, ...answer } = JSON.parse(stdout);
  assert.equal(uid, user);
  return answer;
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
}
