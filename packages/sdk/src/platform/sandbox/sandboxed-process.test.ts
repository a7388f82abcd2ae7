import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import type { Sandbox } from '../../contracts/commands.ts';
import { createSpawner } from '../processes/spawner.ts';
import { startSandboxed } from './sandboxed-process.ts';

/** Ends nothing by itself, so that what the process left behind is not someone else's merit. */
const OPEN_FIELD: Sandbox = {
  places: { home: '/', temporary: '/tmp' },
  confine: (program) => ({ ...program, reports: false, pauses: false }),
  verify: () => true,
  verifyEarly: () => true,
  settle: async (end) => end,
  leave: () => [],
};

test('what a program left running in its group ends with it [S0-36]', async () => {
  const script = 'sleep 1000 & echo $!; exec >/dev/null; exit 3';
  const confined = OPEN_FIELD.confine({
    program: '/bin/sh',
    args: ['-c', script],
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
  });
  const ends = { stdin: 'null', stdout: 'pipe', stderr: 'null' } as const;
  const { process: started, ended } = await startSandboxed(
    { spawner: createSpawner(), sandbox: OPEN_FIELD },
    { name: 'sh', confined },
    ends,
  );
  const [said, { code }] = await Promise.all([started.stdout === undefined ? '' : text(started.stdout), ended]);
  assert.equal(code, 3);
  const left = Number(said);
  assert.ok(left > 1);
  while (isRunning(left)) await new Promise((resolve) => setTimeout(resolve, 5));
});

/** A zombie that has not been collected yet does nothing any more. */
function isRunning(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/exe`)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
