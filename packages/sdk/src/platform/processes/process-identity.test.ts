import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { currentInstance, isAlive } from './process-identity.ts';

const NEVER_A_PROCESS = 2 ** 30;

test('this process is alive under each of its identities [S1-42]', () => {
  const [one, other] = [currentInstance(), currentInstance()];
  assert.notEqual(one.id, other.id);
  assert.equal(one.birth, other.birth);
  assert.deepEqual([isAlive(one), isAlive(other)], [true, true]);
});

test('a reused process number, another boot and an unused number are not alive [S1-42]', () => {
  const { id, pid, birth } = currentInstance();
  const parts = birth.split(':');
  const changed = (at: number, value: string) => parts.with(at, value).join(':');
  assert.equal(isAlive({ id, pid, birth: changed(parts.length - 1, '1') }), false);
  assert.equal(isAlive({ id, pid: NEVER_A_PROCESS, birth }), false);
  if (birth.startsWith('linux:')) assert.equal(isAlive({ id, pid, birth: changed(1, 'another-boot') }), false);
});

test('a process of another namespace cannot be judged and counts as alive [S1-42]', () => {
  const { id, pid, birth } = currentInstance();
  const [system, boot, , start] = birth.split(':');
  if (system === 'linux') assert.equal(isAlive({ id, pid, birth: `linux:${boot}:1:${start}` }), true);
  assert.equal(isAlive({ id, pid: process.ppid, birth: 'start:1' }), true);
  assert.equal(isAlive({ id, pid: NEVER_A_PROCESS, birth: 'start:1' }), false);
});

test('a child is alive until it is killed [S1-42]', async () => {
  const program = `import(${JSON.stringify(import.meta.resolve('./process-identity.ts'))})
    .then((identity) => console.log(JSON.stringify(identity.currentInstance()))); setInterval(() => {}, 1000)`;
  const child = spawn(process.execPath, ['-C', 'tool-runtime-source', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const instance = JSON.parse(String(line));
  assert.equal(isAlive(instance), true);
  child.kill('SIGKILL');
  await once(child, 'close');
  assert.equal(isAlive(instance), false);
});
