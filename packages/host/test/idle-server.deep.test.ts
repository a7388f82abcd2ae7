/** A server whose client thinks for a while keeps the code that was compiled for its calls. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { ensureBuilt } from './ensure-built.ts';
import { createScratch, FROM_BIN } from './run-cli.ts';

/** Enough for V8 to collect everything at least once; after that it looks for more to collect when nothing happens. */
const CALLS = 3000;
/** V8 would begin after 8 s. */
const IDLE_MS = 10_000;

test('a server that has had no work for ten seconds does not forget its code to give back memory', async () => {
  ensureBuilt();
  using scratch = createScratch();
  scratch.write('a.txt', 'alpha');
  const server = spawn(process.execPath, ['--trace-gc', ...FROM_BIN, 'stdio', ...scratch.options]);
  let printed = '';
  server.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  await once(server.stdout, 'data');
  const sessionId = /"session_id":"([^"]+)"/.exec(printed)?.[1];
  for (let count = 0; count < CALLS; count++) {
    const call = { type: 'ToolRequest', tool: 'file_read', args: { path: 'a.txt' }, timestamp: 0 };
    server.stdin.write(`${JSON.stringify({ ...call, request_id: `r${count}`, session_id: sessionId })}\n`);
  }
  while (!printed.includes(`"r${CALLS - 1}"`)) await once(server.stdout, 'data');
  await setTimeout(IDLE_MS);
  server.kill('SIGKILL');
  await once(server, 'close');
  assert.match(printed, /Mark-Compact/);
  assert.doesNotMatch(printed, /Mark-Compact \(reduce\)/);
});
