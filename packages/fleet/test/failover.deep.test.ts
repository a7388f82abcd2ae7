/** Hosts that die or freeze: two hosts on one folder, as on storage that both can reach, each a process of its own. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { type HostProcess, startFleet, startHostProcess, type TestFleet } from './fixtures.ts';

interface Pair {
  readonly fleet: TestFleet;
  readonly workspace: string;
  readonly a: HostProcess;
  readonly b: HostProcess;
  restart(name: 'a' | 'b'): HostProcess;
}

/** Host a holds the workspace, b waits for it. */
async function startPair(t: TestContext, count: 1 | 3 = 1): Promise<Pair> {
  const fleet = await startFleet(t, { count });
  const workspace = path.join(fleet.folder, 'shop');
  mkdirSync(workspace);
  writeFileSync(path.join(workspace, 'a.txt'), 'hello\n');
  const registry = path.join(fleet.folder, 'registry.yaml');
  writeFileSync(registry, 'version: 1\nshell: { mode: sandboxed }\n');
  const start = (name: 'a' | 'b'): HostProcess =>
    startHostProcess(t, name, {
      workspace,
      file: fleet.write(name),
      state: path.join(fleet.folder, `state-${name}`),
      registry,
    });
  const a = start('a');
  await a.logged('workspace_held');
  const b = start('b');
  return { fleet, workspace, a, b, restart: start };
}

async function appeared(file: string): Promise<void> {
  const folder = path.dirname(file);
  await new Promise<void>((resolve) => {
    const watcher = watch(folder, () => {
      if (!existsSync(file)) return;
      watcher.close();
      resolve();
    });
    if (existsSync(file)) {
      watcher.close();
      resolve();
    }
  });
}

function linesOf(file: string): readonly string[] {
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];
}

describe('hosts that die or freeze', () => {
  test('a read that a killed host never answered is answered by the next holder', async (t) => {
    const { fleet, a, b } = await startPair(t);
    const client = await fleet.client();
    a.process.kill('SIGSTOP');
    const reading = client.call('file_read', { path: 'a.txt' });
    a.process.kill('SIGKILL');
    assert.equal(await a.ended, null);
    assert.equal((await reading).ok, true);
    await b.logged('workspace_held');
    await client.close();
  });

  test('a command that a killed host had begun is never run again', async (t) => {
    const { fleet, workspace, a, b } = await startPair(t);
    const client = await fleet.client();
    const marker = path.join(workspace, 'effects.log');
    const calling = client.call('shell_exec', { cmd: 'echo once >> effects.log; sleep 60' }, { idempotencyKey: 'run' });
    calling.catch(() => undefined);
    await appeared(marker);
    // The shell makes the file first.
    while (linesOf(marker).length === 0) await new Promise((wake) => setTimeout(wake, 10));
    a.process.kill('SIGKILL');
    await a.ended;
    const answer = await calling;
    assert.equal(answer.ok, false, JSON.stringify(answer));
    assert.equal(answer.errors[0]?.details?.['reason'], 'outcome_unknown', JSON.stringify(answer));
    assert.deepEqual(linesOf(marker), ['once']);
    await b.logged('workspace_held');
    const again = await client.call(
      'shell_exec',
      { cmd: 'echo once >> effects.log; sleep 60' },
      { idempotencyKey: 'run' },
    );
    assert.equal(again.errors[0]?.details?.['reason'], 'outcome_unknown');
    const other = await client.call('shell_exec', { cmd: 'echo twice >> effects.log' }, { idempotencyKey: 'run-2' });
    assert.equal(other.ok, true, JSON.stringify(other));
    assert.deepEqual(linesOf(marker), ['once', 'twice']);
    await client.close();
  });

  test('a frozen host that wakes up changes nothing any more', async (t) => {
    const { fleet, workspace, a, b } = await startPair(t);
    const client = await fleet.client();
    a.process.kill('SIGSTOP');
    const writing = client.call(
      'file_write',
      { path: 'log.txt', content: 'line\n', append: true },
      { idempotencyKey: 'w' },
    );
    assert.equal((await writing).ok, true);
    await b.logged('workspace_held');
    a.process.kill('SIGCONT');
    await a.logged('workspace_released');
    const again = await client.call(
      'file_write',
      { path: 'log.txt', content: 'line\n', append: true },
      { idempotencyKey: 'w' },
    );
    assert.equal(again.ok, true);
    assert.deepEqual(linesOf(path.join(workspace, 'log.txt')), ['line']);
    await client.close();
  });

  test('kills in a row lose no answer and repeat no effect', async (t) => {
    const pair = await startPair(t, 3);
    const { fleet, workspace } = pair;
    const hosts = { a: pair.a, b: pair.b };
    const client = await fleet.client();
    const acknowledged = new Set<string>();
    const unknown = new Set<string>();
    const stop = new AbortController();
    const lane = async (name: string): Promise<void> => {
      for (let at = 0; !stop.signal.aborted; at++) {
        const line = `${name}-${at}`;
        const args = { path: `${name}.log`, content: `${line}\n`, append: true };
        try {
          const answer = await client.call('file_write', args, { idempotencyKey: line });
          if (answer.ok) acknowledged.add(line);
          else {
            assert.equal(typeof answer.errors[0]?.details?.['reason'], 'string', JSON.stringify(answer));
            unknown.add(line);
          }
        } catch (error) {
          assert.ok(isToolError(error), String(error));
          assert.equal(typeof error.details['reason'], 'string', error.message);
          unknown.add(line);
        }
      }
    };
    const lanes = ['one', 'two', 'three', 'four'].map(lane);
    for (let kills = 0; kills < 4; kills++) {
      const before = acknowledged.size;
      while (acknowledged.size < before + 20) await new Promise((resolve) => setTimeout(resolve, 20));
      const victim = kills % 2 === 0 ? 'a' : 'b';
      hosts[victim].process.kill('SIGKILL');
      await hosts[victim].ended;
      await hosts[victim === 'a' ? 'b' : 'a'].logged('workspace_held');
      hosts[victim] = pair.restart(victim);
    }
    stop.abort();
    await Promise.all(lanes);
    const lines = ['one', 'two', 'three', 'four'].flatMap((name) => linesOf(path.join(workspace, `${name}.log`)));
    assert.equal(new Set(lines).size, lines.length, 'an effect happened twice');
    const missing = [...acknowledged].filter((line) => !lines.includes(line));
    assert.deepEqual(missing, [], 'an acknowledged effect is missing');
    t.diagnostic(`${acknowledged.size} acknowledged, ${unknown.size} refused or unknown, ${lines.length} lines`);
    await client.close();
  });
});
