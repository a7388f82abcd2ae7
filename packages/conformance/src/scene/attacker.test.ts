import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const SUITE = `
const { underAttack } = await import(process.argv[1]);
const folder = process.argv[2];
const swap = { kind: 'file', slot: folder + '/slot', inside: 'harmless', outside: '/etc/passwd' };
await underAttack(swap, Infinity, async (count) => {
  const children = process.getBuiltinModule('node:fs').readFileSync('/proc/thread-self/children', 'utf8');
  if (count === 1) console.log(children.trim());
  await new Promise(setImmediate);
});`;

test('the attacker ends when the suite is killed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-attacker-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const attacker = new URL('./attacker.ts', import.meta.url).href;
  const suite = spawn(process.execPath, ['--input-type=module', '-e', SUITE, attacker, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [told] = (await once(suite.stdout, 'data')) as [Buffer];
  const pid = Number(told.toString());
  suite.kill('SIGKILL');
  await once(suite, 'exit');
  t.after(() => isSwapping(pid, folder) && process.kill(pid, 'SIGKILL'));
  while (isSwapping(pid, folder)) await new Promise((resolve) => setTimeout(resolve, 20));
});

/** Whether the process is still that one. */
function isSwapping(pid: number, folder: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
  } catch {
    return false;
  }
}
