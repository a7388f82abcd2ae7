import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import {
  ManualTimers,
  openScratchServers,
  received,
  type Script,
  scripted,
  until,
} from '../../test/scratch-servers.ts';
import type { LspProvider } from './known-providers.ts';
import type { LspManagerOptions } from './language-servers.ts';
import { serverGone } from './server-errors.ts';
import { RestartPace } from './server-life.ts';

async function open(
  t: TestContext,
  script: Script = {},
  changes: Partial<LspProvider> = {},
  options: Partial<LspManagerOptions> = {},
) {
  const timers = new ManualTimers();
  const scratch = openScratchServers(t, {
    files: { 'a.txt': 'one' },
    providers: [scripted(script, changes)],
    timers,
    ...options,
  });
  return { ...scratch, timers, server: await scratch.manager.serverOf('scripted') };
}

const AT = { path: 'a.txt', line: 0, character: 0 };
const because = (reason: string) => (thrown: unknown) => isToolError(thrown) && thrown.details['reason'] === reason;

/** A process that ended but was not collected yet does not run. */
function isRunning(pid: number): boolean {
  if (!existsSync(`/proc/${pid}`)) return false;
  return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
}

/** The numbers of the server's processes, as the memory watch sees them. */
function watching() {
  const seen: number[] = [];
  const memoryOf = (pids: readonly number[]) => {
    seen.push(...pids);
    return 0;
  };
  return { seen, memoryOf };
}

describe("a server's life", () => {
  test('begins with the first request, and ends after ten idle minutes in the order of the protocol (deep)', async (t) => {
    const { server, timers, manager } = await open(t);
    assert.equal(server.state, 'stopped');
    await received(server);
    assert.equal(server.state, 'running');
    timers.pass(9 * 60_000);
    await received(server);
    timers.pass(9 * 60_000);
    assert.equal(server.state, 'running', 'each request begins the time anew');
    timers.pass(60_000);
    await until(() => server.state === 'stopped');
    await received(server);
    assert.equal(server.generation, 2, 'the next request starts another, at once');
    assert.deepEqual(manager.list(), [{ provider: 'scripted', folder: '.', state: 'running' }]);
  });

  test('is not ended by time while a request runs', async (t) => {
    const { server, timers } = await open(t, {
      on: { 'textDocument/hover': [[{ wait: 100 }, { answer: { contents: 'x' } }]] },
    });
    await server.start();
    const pending = server.hover(AT, { timeoutMs: 60 * 60_000 });
    await until(async () => (await received(server)).some(({ method }) => method === 'textDocument/hover'));
    timers.pass(11 * 60_000);
    assert.deepEqual(await pending, { text: 'x' });
  });

  test('starts again after 0.5, 2 and 8 seconds, then rests with a clear error', async (t) => {
    const { server, timers } = await open(t, { on: { 'textDocument/hover': [[{ die: 7 }]] } });
    const patient = { timeoutMs: 60 * 60_000 };
    for (const pause of [0, 500, 2_000, 8_000]) {
      const outcome = assert.rejects(server.hover(AT, patient), because('server_exited'));
      if (pause > 0) {
        await until(() => timers.isArmed(pause));
        assert.equal(server.state, 'starting');
        timers.pass(pause);
      }
      await outcome;
      await until(() => server.state === 'stopped');
    }
    assert.equal(server.generation, 0);
    await assert.rejects(
      server.hover(AT, patient),
      (thrown) => because('server_cooldown')(thrown) && isToolError(thrown) && thrown.details['exit'] === 7,
    );
    timers.pass(5 * 60_000);
    await assert.rejects(server.hover(AT, patient), because('server_exited'));
  });

  test('that never begins counts as a failure too, and says what the program said', async (t) => {
    const { server, timers } = await open(t, { atStart: [{ complain: 'error TS5023: Unknown option\n' }, { die: 1 }] });
    await assert.rejects(
      server.start(),
      (thrown) => isToolError(thrown) && thrown.details['complaint'] === 'error TS5023: Unknown option',
    );
    const second = assert.rejects(server.start(), because('server_exited'));
    await until(() => timers.isArmed(500));
    timers.pass(500);
    await second;
  });

  test('waits for its pause no longer than the caller', async (t) => {
    const { server, timers } = await open(t, { atStart: [{ die: 1 }] });
    await assert.rejects(server.start(), because('server_exited'));
    const second = assert.rejects(server.start({ timeoutMs: 100 }), because('server_starting'));
    timers.pass(100);
    await second;
  });

  test('ends above the memory cap, with what it used, and starts again', async (t) => {
    const memory = { bytes: 0 };
    const { server, timers } = await open(
      t,
      { on: { 'textDocument/hover': [[]] } },
      { memoryMb: 100 },
      { memoryOf: () => memory.bytes },
    );
    await server.start();
    memory.bytes = 100 * 1024 * 1024;
    timers.pass(5_000);
    const pending = server.hover(AT, { timeoutMs: 60 * 60_000 });
    await until(async () => (await received(server)).some(({ method }) => method === 'textDocument/hover'));
    assert.equal(server.state, 'running', 'at the cap it may stay');
    memory.bytes += 1024 * 1024;
    timers.pass(5_000);
    await assert.rejects(
      pending,
      (thrown) => because('memory_cap')(thrown) && isToolError(thrown) && thrown.details['memory_mb'] === 101,
    );
    memory.bytes = 0;
    timers.pass(500);
    await received(server);
    assert.equal(server.generation, 2);
  });

  test('is watched for the memory it really has', async (t) => {
    const { server, timers } = await open(
      t,
      {
        afterInitialized: [{ eat: 200 }, { set: 'full' }, { notify: 'window/logMessage', params: { message: 'full' } }],
      },
      { memoryMb: 200, ready: { kind: 'log-match', lines: ['full'], rescanMs: 0 } },
    );
    await server.warm([]);
    timers.pass(5_000);
    await until(() => server.state === 'stopped');
  });

  test('hears after its start what changed meanwhile', async (t) => {
    const { server, manager } = await open(t, {
      on: { initialize: [[{ wait: 100 }, { answer: { capabilities: {} } }]] },
    });
    const starting = server.start();
    assert.equal(server.state, 'starting');
    await manager.changed([{ path: 'b.txt', kind: 'created' }]);
    await starting;
    const heard = (await received(server)).filter(({ method }) => method === 'workspace/didChangeWatchedFiles');
    assert.deepEqual(
      heard.map(({ params }) => params.changes),
      [[{ uri: 'b.txt', type: 1 }]],
    );
  });

  test('ends at close with all its processes, asked first, killed when it does not listen', async (t) => {
    for (const on of [{ 'textDocument/hover': [[]] }, { 'textDocument/hover': [[]], shutdown: [[]] }]) {
      const { seen, memoryOf } = watching();
      const { server, manager, timers } = await open(t, { on }, {}, { memoryOf });
      await server.start();
      timers.pass(5_000);
      const [pid = 0] = seen;
      assert.ok(isRunning(pid));
      const pending = assert.rejects(
        server.hover(AT, { timeoutMs: 60 * 60_000 }),
        (thrown) => because('server_exited')(thrown) || because('closed')(thrown),
      );
      await until(async () => (await received(server)).some(({ method }) => method === 'textDocument/hover'));
      const closing = manager.close();
      if ('shutdown' in on) {
        await until(() => timers.isArmed(2_000));
        timers.pass(2_000);
      }
      await closing;
      await pending;
      assert.equal(isRunning(pid), false);
      await assert.rejects(server.start(), because('closed'));
    }
  });

  test('ends at close also while it starts or waits to', async (t) => {
    const { server, manager } = await open(t, { on: { initialize: [[]] } });
    const starting = assert.rejects(server.start());
    await manager.close();
    await starting;
    assert.equal(server.state, 'stopped');
    const other = await open(t, { atStart: [{ die: 1 }] });
    await assert.rejects(other.server.start(), because('server_exited'));
    const waiting = assert.rejects(other.server.start({ timeoutMs: 60_000 }), because('closed'));
    await until(() => other.timers.isArmed(500));
    await other.manager.close();
    await waiting;
  });

  test('is shared: requests at once start one process', async (t) => {
    const { server } = await open(t);
    await Promise.all([received(server), received(server), server.start()]);
    assert.equal(server.generation, 1);
  });
});

const isResting = (thrown: unknown) => isToolError(thrown) && thrown.details['reason'] === 'server_cooldown';

test('a server that keeps ending is started after 0.5, 2 and 8 seconds, then rests five minutes', () => {
  const timers = new ManualTimers();
  const pace = new RestartPace('pyright', timers);
  const end = () => pace.ended(100, serverGone('pyright', 'server_exited', { exit: 3 }));
  assert.equal(pace.pauseMs(), 0);
  for (const pause of [500, 2_000, 8_000]) {
    end();
    assert.equal(pace.pauseMs(), pause);
    timers.pass(pause);
    assert.equal(pace.pauseMs(), 0);
  }
  end();
  assert.throws(() => pace.pauseMs(), isResting);
  timers.pass(299_000);
  assert.throws(
    () => pace.pauseMs(),
    (thrown) =>
      isToolError(thrown) &&
      thrown.details['retry_after_s'] === 1 &&
      thrown.details['last_reason'] === 'server_exited' &&
      thrown.details['exit'] === 3,
  );
  timers.pass(1_000);
  assert.equal(pace.pauseMs(), 0);
  end();
  assert.equal(pace.pauseMs(), 500);
});

test('a server that ran for a while ends for the first time again', () => {
  const timers = new ManualTimers();
  const pace = new RestartPace('pyright', timers);
  const end = (livedMs: number) => pace.ended(livedMs, serverGone('pyright', 'server_exited'));
  end(0);
  end(0);
  assert.equal(pace.pauseMs(), 2_000);
  end(60_000);
  assert.equal(pace.pauseMs(), 500);
});
