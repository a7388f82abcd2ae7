/** A client that leaves in the middle of a call: the program answers what it can, and ends with 0 each time. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createScratch, FROM_BIN, type Scratch, startCli } from './run-cli.ts';
import { connectStdio, isTerminal } from './stdio-client.ts';

/** Some end before their limit, some at it; which one is left to chance, as with any client. */
const CALLS = [
  ['shell_exec', { cmd: 'sleep 5' }, 200],
  ['shell_exec', { cmd: 'sleep 0.2' }, 150],
  ['ast_query', { query: 'f' }, 40],
  ['grep', { pattern: 'f' }, 5],
  ['git_status', {}, 20],
  ['file_read', { path: 'a.ts' }, 1],
] as const;

/** How long after its call the client leaves: at once, before the limit, near it, after it. */
const LEAVES_AFTER_MS = [0, 30, 150, 210, 400];

function scratchWithCode(): Scratch {
  const scratch = createScratch();
  scratch.write('a.ts', 'export function f() { return 1; }\n');
  scratch.write('registry.yaml', 'version: 1\nshell: { mode: sandboxed }\n');
  return scratch;
}

describe('stdin closes while a call with a time limit runs', () => {
  for (const [tool, args, timeout_ms] of CALLS) {
    test(`tool-runtime stdio answers ${tool} (${timeout_ms} ms) and ends with 0`, async () => {
      using scratch = scratchWithCode();
      for (const ms of LEAVES_AFTER_MS) {
        const registry = ['--registry', `${scratch.workspace}/registry.yaml`];
        using client = await connectStdio(startCli(['stdio', ...registry, ...scratch.options], { program: FROM_BIN }));
        client.send(client.request('r1', tool, args, { timeout_ms }));
        await pause(ms);
        assert.equal(await client.end(), 0, `left after ${ms} ms`);
        assert.equal(client.messages.filter((message) => isTerminal(message, 'r1')).length, 1);
      }
    });

    test(`tool-runtime mcp ends with 0 while ${tool} runs`, async () => {
      using scratch = scratchWithCode();
      for (const ms of LEAVES_AFTER_MS) {
        const registry = ['--registry', `${scratch.workspace}/registry.yaml`];
        const child = startCli(['mcp', ...registry, ...scratch.options], { program: FROM_BIN });
        const closed = once(child, 'close');
        const say = (message: object): void => {
          child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
        };
        const clientInfo = { name: 'leaves', version: '1' };
        say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
        await once(child.stdout, 'data');
        say({ method: 'notifications/initialized' });
        say({ id: 2, method: 'tools/call', params: { name: tool, arguments: args } });
        child.stdout.resume();
        await pause(ms);
        child.stdin.end();
        assert.deepEqual((await closed)[0], 0, `left after ${ms} ms`);
      }
    });
  }
});
