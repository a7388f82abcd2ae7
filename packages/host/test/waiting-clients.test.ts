/**
 * What one client, process or person keeps waiting holds up no other: health, status and other sessions are answered
 * meanwhile. The host runs in the process of the test, so a host that stands still could not even be released.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { HostStatus, SessionOpened, ToolResponse } from '@tool-runtime/protocol';
import { defineTool, type Runtime } from '@tool-runtime/sdk';
import { startJournalHolder } from '@tool-runtime/sdk/testing';
import { z } from 'zod';
import { openHost, type TestHost, TOKENS } from './open-host.ts';
import { openSocket, type RawSocket } from './wire/raw-socket.ts';
import { eventually } from './wire/within.ts';

async function openSession(host: TestHost, body: object = {}): Promise<SessionOpened> {
  return (await (await host.request('/v1/sessions', { token: TOKENS.caller, body })).json()) as SessionOpened;
}

let requests = 0;
async function call(host: TestHost, session: SessionOpened, tool: string, args: object): Promise<ToolResponse> {
  const body = { type: 'ToolRequest', tool, args, request_id: `r${++requests}`, timestamp: 1 };
  const answer = await host.request('/v1/call', {
    token: session.token,
    body: { ...body, session_id: session.session_id },
  });
  return (await answer.json()) as ToolResponse;
}

async function statusOf(host: TestHost): Promise<HostStatus> {
  return (await (await host.request('/v1/status')).json()) as HostStatus;
}

/** Everything that must go on. */
async function checkHealth(host: TestHost, beating: SessionOpened): Promise<void> {
  assert.equal((await host.request('/healthz', { token: '' })).status, 200);
  const { in_flight } = await statusOf(host);
  assert.ok(in_flight <= host.host.limits.maxInFlight, `${in_flight} in flight`);
  const beat = { type: 'Heartbeat', session_id: beating.session_id, timestamp: 1 };
  assert.ok((await host.request('/v1/call', { token: beating.token, body: beat })).ok);
}

describe('another process holds the journal of a workspace', () => {
  for (const how of ['busy', 'stopped'] as const) {
    test(`${how}: health and other workspaces go on; the calls are answered once it lets go`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'held-host-'));
      const [held, free] = [join(folder, 'held'), join(folder, 'free')];
      await Promise.all([mkdir(held), mkdir(free)]);
      const host = await openHost({ workspaces: [held, free], runtime: { ports: {} } });
      const [first, second] = host.host.workspaces.all;
      assert.ok(first !== undefined && second !== undefined);
      const [stuck, other] = [
        await openSession(host, { workspace: first.path }),
        await openSession(host, { workspace: second.path }),
      ];
      const holder = startJournalHolder(join(host.state, 'held'));
      try {
        await holder.hold();
        if (how === 'stopped') process.kill(holder.pid, 'SIGSTOP');
        let isAnswered = false;
        const write = call(host, stuck, 'file_write', { path: 'a.txt', content: 'a' }).finally(() => {
          isAnswered = true;
        });
        await eventually(async () => (await statusOf(host)).in_flight === 1, 'a running call');
        await checkHealth(host, stuck);
        for (let reads = 0; reads < 20; reads++) assert.ok((await call(host, other, 'fs_list', { path: '.' })).ok);
        await checkHealth(host, other);
        assert.equal(isAnswered, false);
        await (how === 'stopped' ? holder.kill() : holder.release());
        const { ok, errors } = await write;
        assert.ok(ok, JSON.stringify(errors));
      } finally {
        await holder.kill();
        await host[Symbol.asyncDispose]();
        await rm(folder, { recursive: true, force: true });
      }
    });
  }
});

describe('questions that wait for a person', () => {
  const REGISTRY = `version: 1
approvals:
  auto_approve: [fs_list]
  require_approval: [file_write]
`;
  const ask = (host: TestHost, session: SessionOpened, count: number) =>
    Array.from({ length: count }, (_, at) => call(host, session, 'file_write', { path: `f${at}`, content: '' }));

  test('40 of them take no place: their session and others are answered', async () => {
    await using host = await openHost({ registryText: REGISTRY, limits: { maxInFlight: 8 } });
    const session = await openSession(host);
    const questions = ask(host, session, 40);
    await eventually(async () => (await statusOf(host)).approvals === 40, '40 questions');
    assert.ok((await call(host, session, 'fs_list', { path: '.' })).ok);
    await checkHealth(host, session);
    const { in_flight, queued } = await statusOf(host);
    assert.deepEqual([in_flight, queued], [0, 0]);
    await host.request(`/v1/sessions/${session.session_id}?mode=cancel`, { method: 'DELETE', token: session.token });
    await Promise.all(questions);
  });

  test('beyond the limit of the session and of the host a call is refused, and one that asks nothing is not', async () => {
    for (const [limits, limit] of [
      [{}, 256],
      [{ maxQuestions: 10 }, 10],
    ] as const) {
      await using host = await openHost({ registryText: REGISTRY, limits });
      const session = await openSession(host);
      const questions = ask(host, session, limit);
      await eventually(async () => (await statusOf(host)).approvals === limit, `${limit} questions`);
      const refused = await call(host, session, 'file_write', { path: 'more', content: '' });
      const { reason, limit: named } = refused.errors[0]?.details ?? {};
      assert.deepEqual([refused.ok, reason, named], [false, 'too_many_questions', limit]);
      assert.ok((await call(host, session, 'fs_list', { path: '.' })).ok);
      await host.request(`/v1/sessions/${session.session_id}?mode=cancel`, { method: 'DELETE', token: session.token });
      await Promise.all(questions);
    }
  });
});

/** Counts the records between two turns of the event loop: what is worked off in one go shows as one large step. */
function watchSteps(runtime: Runtime): { end(): Promise<number> } {
  let largest = 0;
  let isOver = false;
  const watching = (async () => {
    for (let last = runtime.head().seq; !isOver; await turn()) {
      const { seq } = runtime.head();
      largest = Math.max(largest, seq - last);
      last = seq;
    }
  })();
  return {
    async end() {
      isOver = true;
      await watching;
      return largest;
    },
  };
}

/** Sends so many calls at once over a connection that does not read. */
async function handIn(raw: RawSocket, calls: number, about: { tool: string; args: object }): Promise<void> {
  const { session_id } = await raw.next((bytes) => {
    const end = bytes.indexOf(10);
    return end < 0 ? undefined : [JSON.parse(bytes.subarray(0, end).toString()) as SessionOpened, end + 1];
  }, 'the greeting');
  raw.socket.pause();
  const request = { type: 'ToolRequest', ...about, session_id, timestamp: 1 };
  for (let at = 0; at < calls; at++) raw.write(`${JSON.stringify({ ...request, request_id: `q${at}` })}\n`);
}

test('a line of calls is worked off with a turn for others in between (deep)', async () => {
  const CALLS = 800;
  await using host = await openHost();
  const [workspace] = host.host.workspaces.all;
  assert.ok(workspace !== undefined);
  using raw = await openSocket({ path: host.socket });
  const watch = watchSteps(workspace.runtime);
  await handIn(raw, CALLS, { tool: 'fs_list', args: { path: '.' } });
  await eventually(() => [...workspace.runtime.records({ kind: 'result' })].length === CALLS, 'all results');
  const largest = await watch.end();
  // As many calls as a session runs at once, with four records each, may end while as many begin.
  assert.ok(largest <= 2 * 32 * 4, `${largest} records in one turn`);
});

describe('clients that hand in much, read nothing and vanish', () => {
  test('what they had in line is dropped, a little in each turn, and nothing of it runs', async () => {
    const CLIENTS = 4;
    const CALLS = 600;
    await using host = await openHost({ files: { 'large.txt': 'x'.repeat(200_000) } });
    const [workspace] = host.host.workspaces.all;
    assert.ok(workspace !== undefined);
    const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => openSocket({ path: host.socket })));
    for (const raw of sockets) await handIn(raw, CALLS, { tool: 'file_read', args: { path: 'large.txt' } });
    const before = await eventually(async () => {
      const status = await statusOf(host);
      return status.queued >= CLIENTS * 100 && status;
    }, 'a backlog');
    assert.ok(before.in_flight <= host.host.limits.maxInFlight);
    for (const raw of sockets) raw.cut();
    const watch = watchSteps(workspace.runtime);
    for (let work = before; work.in_flight + work.queued > 0; work = await statusOf(host)) {
      assert.ok(work.in_flight <= host.host.limits.maxInFlight);
    }
    const largest = await watch.end();
    await checkHealth(host, await openSession(host));
    // Two records for each dropped call, four for each that had begun.
    assert.ok(largest <= CLIENTS * (32 * 2 + 32 * 4), `${largest} records in one turn`);
    const intents = [...workspace.runtime.records({ kind: 'intent' })].length;
    assert.ok(intents < (CLIENTS * CALLS) / 2, `${intents} of ${CLIENTS * CALLS} calls ran`);
  });

  test('a call over HTTP is dropped while it waits for its turn, and runs on once it has begun', async () => {
    const open = Promise.withResolvers<void>();
    const ran: string[] = [];
    const slow = defineTool({
      name: 'slow_note',
      category: 'probe',
      title: 'Note slowly',
      timeoutMs: 600_000,
      summary: 'Waits for the test, then notes its name.',
      args: z.object({ name: z.string().describe('What to note.') }).strict(),
      data: z.object({}),
      effect: 'read',
      risk: 'low',
      annotations: { kind: 'read', side_effect_level: 'read_only' },
      async run({ name }) {
        await open.promise;
        ran.push(name);
        return {};
      },
    });
    const registryText = 'version: 1\napprovals: { auto_approve: [slow_note] }\n';
    await using host = await openHost({ registryText, limits: { maxInFlight: 1 }, runtime: { tools: [slow] } });
    const session = await openSession(host);
    const send = (name: string, signal?: AbortSignal) => {
      const body = { type: 'ToolRequest', tool: 'slow_note', args: { name }, request_id: name, timestamp: 1 };
      return fetch(`${host.url}/v1/call`, {
        method: 'POST',
        headers: { authorization: `Bearer ${session.token}` },
        body: JSON.stringify({ ...body, session_id: session.session_id }),
        ...(signal === undefined ? {} : { signal }),
      });
    };
    const client = new AbortController();
    const begun = send('begun', client.signal);
    await eventually(async () => (await statusOf(host)).in_flight === 1, 'a running call');
    const waiting = send('waiting', client.signal);
    await eventually(async () => (await statusOf(host)).queued === 1, 'a waiting call');
    client.abort();
    await Promise.allSettled([begun, waiting]);
    await eventually(async () => (await statusOf(host)).queued === 0, 'the waiting call dropped');
    open.resolve();
    await eventually(async () => (await statusOf(host)).in_flight === 0, 'the running call answered');
    assert.deepEqual(ran, ['begun']);
    await eventually(async () => (await send('waiting')).status === 200, 'the same request taken again');
    assert.deepEqual(ran, ['begun', 'waiting']);
  });
});
