import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { isListening } from './process-list.ts';

const SERVER =
  'require("node:net").createServer().listen(0, "127.0.0.1", function () { console.log(this.address().port) })';
/** The server is a child of the process that is asked about. */
const NESTED = `require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(SERVER)}], { stdio: "inherit" })`;

async function started(script: string): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return { child, port: Number(line) };
}

test('a port counts when the process or a descendant listens on it, and not when another process does', async () => {
  const own = createServer().listen(0, '127.0.0.1');
  await once(own, 'listening');
  const other = (own.address() as AddressInfo).port;
  const servers = [await started(SERVER), await started(NESTED)];
  try {
    for (const { child, port } of servers) {
      assert.equal(isListening([child.pid ?? 0], port), true);
      assert.equal(isListening([child.pid ?? 0], other), false, 'this process listens there, not the child');
    }
    assert.equal(isListening([], other), false);
    assert.equal(isListening([process.pid], other), true);
  } finally {
    for (const { child } of servers) process.kill(-(child.pid ?? 0), 'SIGKILL');
    own.close();
  }
});

test('a process that is gone listens nowhere', async () => {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  assert.equal(isListening([child.pid ?? 0], 80), false);
});
