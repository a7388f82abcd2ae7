/** No path that was checked on the host leads elsewhere when it is mounted: as root, and as an ordinary user. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { ToolResponse } from '@tool-runtime/protocol';
import { openScratchRuntime } from '../src/testing/scratch-runtime.ts';

const NOBODY = 65534;
const USERS = process.getuid?.() === 0 ? [0, NOBODY] : [process.getuid?.() ?? NOBODY];
/** Of each race. `MOUNT_RACE_ROUNDS=10000` for the whole attack. */
const ROUNDS = process.env['MOUNT_RACE_ROUNDS'] ?? '60';

async function runChild(t: TestContext, name: string, user: number, ...more: readonly string[]) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'mounts-')));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  if (process.getuid?.() === 0) chownSync(base, user, user);
  const child = new URL(name, import.meta.url).pathname;
  const words = ['-C', 'tool-runtime-source', child, base, String(user), ...more];
  const { stdout } = await promisify(execFile)(process.execPath, words, { maxBuffer: 64 * 1024 * 1024 });
  const { uid, ...answer } = JSON.parse(stdout);
  assert.equal(uid, user);
  return answer;
}

/** A program that ran saw its own files, and neither what is hidden nor anything outside. */
function isHarmless(saw: string): boolean {
  if (saw.startsWith('refused: ')) return true;
  return (
    saw.includes('INSIDE ws/own.txt') && saw.includes('RAN') && !/SECRET|INSIDE ws\/(?:conf\/token|run\/)/.test(saw)
  );
}

for (const user of USERS) {
  test(`no swap of a mounted path shows or loses anything, as user ${user} [S0-36 S0-39]`, async (t) => {
    const { verified, naive } = await runChild(t, './mount-attack-child.ts', user);
    const cases = Object.entries<string>(verified);
    assert.deepEqual(
      cases.filter(([, saw]) => !isHarmless(saw)),
      [],
    );
    const untouched = cases.filter(([name]) => name.includes(': nothing at all'));
    assert.ok(untouched.length > 0);
    for (const [name, saw] of untouched) assert.match(saw, /RAN/, name);
    // The attack is real: without the check it shows what lies outside.
    for (const [target, saw] of Object.entries<string>(naive)) {
      assert.match(saw, /SECRET/, target);
    }
    const refused = cases.filter(([, saw]) => saw.startsWith('refused')).length;
    t.diagnostic(`${cases.length} cases, ${refused} refused, ${cases.length - refused} ran on the right object`);
  });
}

for (const user of USERS) {
  test(`nothing outside is seen while folders are swapped for links, as user ${user} [S0-36 S0-39]`, async (t) => {
    const { report } = await runChild(t, './mount-race-child.ts', user, ROUNDS);
    for (const [name, { verified, naive }] of Object.entries<{ verified: Answers; naive: Answers }>(report)) {
      t.diagnostic(`${name}: ${JSON.stringify({ verified, naive })}`);
      assert.ok(naive['SECRET'], 'the attack is real: without the check it is lost');
      const { started = 0, ran: _, 'ran afterwards': after, ...rest } = verified;
      assert.ok(started >= Number(ROUNDS));
      assert.equal(after, 1, 'commands run once the attacker is gone');
      assert.deepEqual(
        Object.keys(rest).filter((answer) => !answer.startsWith('refused: ')),
        [],
      );
    }
  });
}

type Answers = Record<string, number>;

interface ShellData {
  readonly stdout: string;
}

const REGISTRY = { file: 'ops.yaml', text: "version: 1\nshell_allow: ['^cat( |$)', '^pwd$']\n" };

/** A runtime that was given a link to its workspace, and has started nothing yet. */
async function linkedRuntime(t: TestContext) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'linked-')));
  for (const name of ['inside', 'outside']) {
    mkdirSync(join(base, name));
    writeFileSync(join(base, name, 'file'), `${name}\n`);
  }
  symlinkSync('inside', join(base, 'link'));
  const scratch = await openScratchRuntime({ workspace: join(base, 'link'), registry: REGISTRY });
  t.after(async () => {
    await scratch.dispose();
    rmSync(base, { recursive: true, force: true });
  });
  const shell = (cmd: string): Promise<ToolResponse> => scratch.session.call('shell_exec', { cmd });
  return { base, shell };
}

test('a link to the workspace that is repointed before the first command leads nowhere else [S0-36]', async (t) => {
  const { base, shell } = await linkedRuntime(t);
  rmSync(join(base, 'link'));
  symlinkSync('outside', join(base, 'link'));
  const { errors, data } = await shell('cat file; pwd');
  assert.deepEqual(errors, []);
  assert.equal((data as unknown as ShellData).stdout, `inside\n${join(base, 'inside')}\n`);
});

test('a workspace that was moved starts no command, and does again when it is back [S0-36]', async (t) => {
  const { base, shell } = await linkedRuntime(t);
  renameSync(join(base, 'inside'), join(base, 'moved'));
  for (const stands of [false, true]) {
    if (stands) renameSync(join(base, 'outside'), join(base, 'inside'));
    const { errors } = await shell('cat file');
    assert.deepEqual([errors[0]?.code, errors[0]?.details?.['reason']], ['E_POLICY', 'workspace_moved']);
  }
  renameSync(join(base, 'inside'), join(base, 'outside'));
  renameSync(join(base, 'moved'), join(base, 'inside'));
  const { data } = await shell('cat file');
  assert.equal((data as unknown as ShellData).stdout, 'inside\n');
});
