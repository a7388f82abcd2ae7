import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { processMemory } from './process-memory.ts';

const MIB = 1024 * 1024;

test('the memory of a process counts what its children hold', async (t) => {
  const inner = `const kept = Buffer.alloc(80 * ${MIB}, 1); console.log('ready'); setInterval(() => kept, 1000)`;
  // The shell waits for its child, so the memory is the child's.
  const child = spawn('sh', ['-c', '"$0" -e "$1"; :', process.execPath, inner], { detached: true });
  const pid = child.pid ?? assert.fail('not started');
  t.after(() => process.kill(-pid, 'SIGKILL'));
  await once(child.stdout, 'data');
  const all = processMemory([pid]) ?? 0;
  assert.ok(all > 80 * MIB, `${all}`);
  assert.ok((processMemory([process.pid]) ?? 0) > all);
});

test('a process that does not exist holds nothing', () => {
  assert.equal(processMemory([2 ** 30]), 0);
});
