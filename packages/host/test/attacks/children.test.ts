/** Children that reach for their parents, parents that reach through their children, and families that would not end. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { ChildOpened, JsonObject, SessionInfo, SessionOpened } from '@tool-runtime/protocol';
import { nothing, wait } from '@tool-runtime/sdk/testing';
import { openHost, type TestHost, type TestHostOptions, type TestRequest, TOKENS } from '../open-host.ts';
import { addressOf, type RawSocket } from '../wire/raw-socket.ts';
import { nextFrame, upgrade, writeFrame } from '../wire/raw-web-socket.ts';
import { eventually } from '../wire/within.ts';
import { attempt } from './attempt.ts';

let host: TestHost;
before(async () => {
  host = await openHost({ registryText: 'budgets: { max_calls: 100 }\n', runtime: { tools: [nothing, wait] } });
  mkdirSync(join(host.workspace, 'inner'));
  mkdirSync(join(host.workspace, 'other'));
});
after(() => host[Symbol.asyncDispose]());

/** `200`, or `403 scope_missing`. */
async function ask(path: string, how: TestRequest, at = host): Promise<string> {
  const answer = await at.request(path, how);
  const text = await answer.text();
  if (answer.status < 400) return String(answer.status);
  const { details } = JSON.parse(text) as { details?: { reason?: string } };
  return `${answer.status} ${details?.reason}`;
}

async function open(token: string, at = host, body: JsonObject = {}): Promise<SessionOpened> {
  const answer = await at.request('/v1/sessions', { token, body });
  assert.equal(answer.status, 201);
  return (await answer.json()) as SessionOpened;
}

async function openChild(parent: SessionOpened, body: JsonObject = {}, at = host): Promise<ChildOpened> {
  const path = `/v1/sessions/${parent.session_id}/children`;
  const answer = await at.request(path, { token: parent.token, body: { agent_id: 'child', ...body } });
  const opened = await answer.json();
  assert.equal(answer.status, 201, JSON.stringify(opened));
  return opened as ChildOpened;
}

let ids = 0;
function read(session_id: string, tool = 'file_read', args: JsonObject = { path: 'hello.txt' }): JsonObject {
  ids += 1;
  return { type: 'ToolRequest', request_id: `r${ids}`, session_id, timestamp: 1, tool, args };
}

function childOpen(session_id: string, more: JsonObject = {}): JsonObject {
  ids += 1;
  return { type: 'ChildOpen', request_id: `r${ids}`, session_id, agent_id: 'child', ...more };
}

/** A WebSocket by hand: what is said, and the answer to it. */
async function connect(token: string, at = host) {
  const { socket } = await upgrade(addressOf(at.url), { host: new URL(at.url).host, token });
  const { session_id } = await nextMessage(socket);
  return {
    socket,
    sessionId: String(session_id),
    async say(message: JsonObject): Promise<JsonObject> {
      socket.write(writeFrame(JSON.stringify(message)));
      for (;;) {
        const answer = await nextMessage(socket);
        const isAnswer = answer['request_id'] === (message['request_id'] ?? null) && answer['type'] !== 'EventMessage';
        if (isAnswer) return answer;
      }
    },
  };
}

async function nextMessage(socket: RawSocket): Promise<JsonObject> {
  for (;;) {
    const text = String((await nextFrame(socket)).payload);
    if (text.startsWith('{')) return JSON.parse(text) as JsonObject;
  }
}

/** `ToolResponse true`, `ChildAck`, or the reason of a refusal. */
function outcome(message: JsonObject): string {
  if (message['type'] === 'ErrorMessage') return String((message['details'] as JsonObject | undefined)?.['reason']);
  return message['type'] === 'ToolResponse' ? `ToolResponse ${message['ok']}` : String(message['type']);
}

describe('the token of a child [S3-46]', () => {
  test('reaches nothing of its parent, and everything of its own', async () => {
    const parent = await open(TOKENS.operator);
    const child = await openChild(parent);
    assert.notEqual(child.token, parent.token);
    const routes = (id: string): readonly (readonly [string, TestRequest])[] => [
      [`/v1/sessions/${id}`, {}],
      [`/v1/sessions/${id}/children`, {}],
      [`/v1/sessions/${id}/children`, { body: { agent_id: 'x' } }],
      [`/v1/sessions/${id}/plans`, { body: { steps: [{ tool: 'file_read', args: { path: 'hello.txt' } }] } }],
      [`/v1/tools?session_id=${id}`, {}],
      ['/v1/call', { body: read(id) }],
      ['/v1/call', { body: childOpen(id) }],
      ['/v1/call', { body: { type: 'Heartbeat', session_id: id, timestamp: 1 } }],
    ];
    for (const [path, how] of routes(parent.session_id)) {
      assert.equal(await ask(path, { ...how, token: child.token }), '404 unknown_session', path);
    }
    for (const [path, how] of routes(child.session_id)) {
      assert.match(await ask(path, { ...how, token: child.token }), /^20[01]$/, path);
    }
    const target = `/v1/ws?session_id=${parent.session_id}`;
    assert.equal(await attempt(host, { token: child.token, target, as: 'upgrade' }), '404 unknown_session');
    assert.equal(await attempt(host, { token: child.token, as: 'upgrade' }), '101');
    const events = `/v1/events?session_id=${parent.session_id}`;
    assert.equal(await ask(events, { token: child.token }), '404 unknown_session');
    const end = { token: child.token, method: 'DELETE' };
    assert.equal(await ask(`/v1/sessions/${parent.session_id}?mode=cancel`, end), '404 unknown_session');
    const detach = { acknowledged_by: 'me', reclaim: { kind: 'runtime_package', id: 'p' } };
    const own = `/v1/sessions/${child.session_id}`;
    assert.equal(await ask(`${own}/detach`, { token: child.token, body: detach }), '403 session_token');
    assert.equal(await ask('/v1/sessions', { token: child.token, body: {} }), '403 session_token');
    const seen = (await (await host.request('/v1/sessions', { token: child.token })).json()) as {
      sessions: SessionInfo[];
    };
    assert.deepEqual(
      seen.sessions.map((session) => session.session_id),
      [child.session_id],
    );
    assert.equal(await ask(`${own}?mode=cancel`, end), '200');
    assert.equal(await ask(own, { token: child.token }), '401 token_invalid');
  });

  test('asks for nothing its parent cannot give, in any field', async () => {
    const child = await openChild(await open(TOKENS.operator), {
      tools: ['file_read', 'grep'],
      folder: 'inner',
      budget: { max_calls: 5 },
      depth: { max_depth: 1, max_children: 11 },
      capabilities: { tools: ['file_read', 'grep'] },
    });
    const path = `/v1/sessions/${child.session_id}/children`;
    const tryOpen = (body: JsonObject) => ask(path, { token: child.token, body: { agent_id: 'x', ...body } });
    const pairs: readonly (readonly [JsonObject, JsonObject])[] = [
      [{ tools: ['file_write'] }, { tools: ['grep'] }],
      [{ tools: { type: 'custom_allowlist', capability_ids: ['tool.shell_exec'] } }, { tools: { type: 'no_tools' } }],
      [{ folder: '../other' }, { folder: '.' }],
      [{ folder: join(host.workspace, 'other') }, {}],
      [{ budget: { max_calls: 6 } }, { budget: { max_calls: 1 } }],
      [{ depth: { max_depth: 1 } }, { depth: { max_depth: 0 } }],
      [{ depth: { max_children: 12 } }, { depth: { max_children: 11 } }],
      [{ capabilities: { tools: ['fs_list'] } }, { capabilities: { tools: ['grep'] } }],
      [{ registry: 'version: 1\nshell_allow: ["^ls$"]\n' }, { registry: 'version: 1\n' }],
      [{ lifecycle: 'immortal' }, { lifecycle: 'parent_owned' }],
      [{ session_id: 'sess-chosen' }, {}],
    ];
    assert.match(await tryOpen({ folder: 'missing' }), /^400 /);
    for (const [wider, narrower] of pairs) {
      assert.match(await tryOpen(wider), /^40[03] /, JSON.stringify(wider));
      assert.equal(await tryOpen(narrower), '201', JSON.stringify(narrower));
    }
    const all = await openChild(child, { tools: { type: 'inherit_allowlist' } }).catch(() => undefined);
    assert.equal(all, undefined, 'its eleven children are used up');
    const grep = read(child.session_id, 'grep', { pattern: 'hello' });
    const found = (await (await host.request('/v1/call', { token: child.token, body: grep })).json()) as JsonObject;
    assert.equal(found['ok'], true);
    assert.equal(JSON.stringify(found).includes('hello.txt'), false, 'what lies beside its folder is not there');
  });
});

describe('the token of a parent [S3-48]', () => {
  test('opens, lists and ends its children, and does not call in their name', async () => {
    const parent = await open(TOKENS.caller);
    const child = await openChild(parent);
    const { token } = parent;
    const path = `/v1/sessions/${child.session_id}`;
    for (const [target, how] of [
      [path, {}],
      ['/v1/call', { body: read(child.session_id) }],
      [`/v1/tools?session_id=${child.session_id}`, {}],
      [`${path}/children`, { body: { agent_id: 'x' } }],
    ] as const) {
      assert.equal(await ask(target, { ...how, token }), '404 unknown_session', target);
      assert.match(await ask(target, { ...how, token: TOKENS.caller }), /^20[01]$/, `${target} for the owner`);
    }
    assert.equal(await ask(`/v1/events?session_id=${child.session_id}`, { token }), '404 unknown_session');
    const grandchildren = await host.request(`${path}/children`, { token: child.token });
    const [grandchild] = ((await grandchildren.json()) as { children: SessionInfo[] }).children;
    const below = `/v1/sessions/${grandchild?.session_id}`;
    assert.equal(await ask(below, { token, method: 'DELETE' }), '404 unknown_session', 'not its own child');
    assert.equal(await ask(path, { token, method: 'DELETE' }), '409 children_open');
    assert.equal(await ask(below, { token: child.token, method: 'DELETE' }), '200');
    assert.equal(await ask(path, { token, method: 'DELETE' }), '200');
    assert.equal(await ask(`/v1/sessions/${parent.session_id}`, { token, method: 'DELETE' }), '204');
  });

  test('needs the scope call to open one, and read to list them', async () => {
    const parent = await open(TOKENS.operator);
    const path = `/v1/sessions/${parent.session_id}/children`;
    assert.equal(await ask(path, { token: TOKENS.reader, body: { agent_id: 'x' } }), '403 scope_missing');
    assert.equal(await ask(path, { token: TOKENS.approver }), '403 scope_missing');
    assert.equal(await ask(path, { token: parent.token, body: { agent_id: 'x' } }), '201');
    assert.equal(await ask(path, { token: parent.token }), '200');
  });
});

describe('another principal [S3-46]', () => {
  test('is told the same of a foreign family as of none', async () => {
    const parent = await open(TOKENS.caller);
    const child = await openChild(parent);
    for (const id of [parent.session_id, child.session_id, 'sess-none']) {
      const answers = await Promise.all(
        [
          { path: `/v1/sessions/${id}/children`, how: { body: { agent_id: 'x' } } },
          { path: `/v1/sessions/${id}/children`, how: {} },
          { path: `/v1/sessions/${id}?mode=cancel`, how: { method: 'DELETE' } },
          {
            path: `/v1/sessions/${id}/detach`,
            how: { body: { acknowledged_by: 'me', reclaim: { kind: 'context', id: 'p' } } },
          },
        ].map(({ path, how }) => ask(path, { ...how, token: TOKENS.other })),
      );
      assert.deepEqual(answers, Array(4).fill('404 unknown_session'), id);
    }
    assert.equal(await ask('/v1/call', { token: child.token, body: read(child.session_id) }), '200');
  });

  test('guesses the id of a child on another connection in vain; where it was opened it works', async () => {
    const parent = await open(TOKENS.caller);
    const [holder, guesser] = [await connect(parent.token), await connect((await open(TOKENS.caller)).token)];
    const ack = await holder.say(childOpen(parent.session_id));
    const childId = String(ack['session_id']);
    const second = await connect(parent.token);
    for (const connection of [guesser, second]) {
      for (const message of [
        read(childId),
        childOpen(childId),
        { type: 'SessionAttach', session_id: childId },
        { type: 'Heartbeat', session_id: childId, timestamp: 1 },
      ]) {
        assert.equal(outcome(await connection.say(message)), 'unknown_session', String(Reflect.get(message, 'type')));
      }
    }
    const end = { type: 'ChildEnd', request_id: 'end', session_id: childId };
    assert.equal(outcome(await guesser.say(end)), 'unknown_session');
    assert.equal(outcome(await holder.say(read(childId))), 'ToolResponse true');
    assert.equal(outcome(await second.say(end)), 'ChildEnded', 'its parent may end it from everywhere');
    assert.equal(outcome(await holder.say(read(childId))), 'unknown_session');
    for (const { socket } of [holder, guesser, second]) socket.cut();
  });
});

describe('a parent that is gone [S3-49]', () => {
  test('opens no more children, closing or closed', async () => {
    const parent = await open(TOKENS.operator);
    const path = `/v1/sessions/${parent.session_id}`;
    assert.equal(await ask(`${path}/children`, { body: { agent_id: 'x' } }), '201');
    assert.equal(await ask(`${path}?mode=cancel`, { method: 'DELETE' }), '204');
    assert.equal(await ask(`${path}/children`, { body: { agent_id: 'x' } }), '404 unknown_session');
    assert.equal(await ask(`${path}/children`, { token: parent.token, body: { agent_id: 'x' } }), '401 token_invalid');
    const closing = await open(TOKENS.operator);
    const running = host.request('/v1/call', { body: read(closing.session_id, 'probe_wait', { ms: 300 }) });
    await eventually(() => host.host.status().in_flight > 0, 'the call to run');
    const closed = ask(`/v1/sessions/${closing.session_id}`, { method: 'DELETE' });
    const late = await eventually(async () => {
      const found = await ask(`/v1/sessions/${closing.session_id}/children`, { body: { agent_id: 'x' } });
      return found !== '201' && found;
    }, 'a refusal');
    assert.match(late, /^404 (session_closed|unknown_session)$/);
    await ask(`/v1/sessions/${closing.session_id}?mode=cancel`, { method: 'DELETE' });
    assert.match(await closed, /^(204|404|409)/);
    await running;
  });

  const reaping = { limits: { resumeMs: 50 }, runtime: { tools: [nothing, wait] } };

  test('takes its children along when its connection is lost, and their calls and tokens', async () => {
    await using own = await openHost(reaping);
    const { socket, sessionId, say } = await connect(TOKENS.operator, own);
    const child = await say(childOpen(sessionId));
    const free = await say(childOpen(sessionId, { lifecycle: 'reclaimable' }));
    const [token, freeToken] = [String(child['token']), String(free['token'])];
    const use = (session: JsonObject, as: string, tool = 'probe_nothing', args: JsonObject = {}) =>
      own.request('/v1/call', { token: as, body: read(String(session['session_id']), tool, args) });
    assert.equal((await use(child, token)).status, 200);
    const running = use(child, token, 'probe_wait', { ms: 60_000 });
    await eventually(() => own.host.status().in_flight > 0, 'the call to run');
    socket.cut();
    const answer = (await (await running).json()) as { errors: { details?: JsonObject }[] };
    assert.equal(answer.errors[0]?.details?.['reason'], 'cancelled');
    await eventually(() => own.host.status().sessions === 1, 'the end of the family');
    assert.equal(await ask('/v1/status', { token }, own), '401 token_invalid');
    assert.equal((await use(free, freeToken)).status, 200, 'one that may be taken over lives on');
    const records = [...(own.host.workspaces.all[0]?.runtime.records({ kind: 'child' }) ?? [])];
    const events = records.flatMap((record) =>
      record.kind === 'child' && record.child_session_id === child['session_id'] ? [record.event] : [],
    );
    assert.deepEqual(events, ['started', 'handoff', 'cancelling', 'usage', 'cancelled']);
    assert.equal(await ask(`/v1/sessions/${free['session_id']}`, { token: freeToken, method: 'DELETE' }, own), '200');
    assert.equal(own.host.status().sessions, 0);
  });

  test('takes its children along when it falls silent; one that beats keeps them (deep)', async () => {
    await using own = await openHost({ runtime: { tools: [nothing] } });
    const strict = { heartbeat_timeout_ms: 4000 };
    const [silent, beating] = [await open(TOKENS.operator, own, strict), await open(TOKENS.operator, own, strict)];
    const lost = await openChild(silent, {}, own);
    const kept = await openChild(beating, {}, own);
    const beat = setInterval(() => {
      void ask('/v1/call', { body: { type: 'Heartbeat', session_id: beating.session_id, timestamp: 1 } }, own);
    }, 100);
    try {
      await eventually(async () => {
        return (await ask(`/v1/sessions/${lost.session_id}`, { token: lost.token }, own)) === '401 token_invalid';
      }, 'the end of the child');
      assert.equal(await ask(`/v1/sessions/${kept.session_id}`, { token: kept.token }, own), '200');
      assert.equal(own.host.status().sessions, 2);
    } finally {
      clearInterval(beat);
    }
  });

  test('a child that falls silent is on record as expired, and its parent goes on (deep)', async () => {
    await using own = await openHost({ runtime: { tools: [nothing] } });
    const parent = await open(TOKENS.operator, own);
    const child = await openChild(parent, { heartbeat_timeout_ms: 1000 }, own);
    await eventually(() => own.host.status().sessions === 1, 'the end of the child');
    const records = [...(own.host.workspaces.all[0]?.runtime.records({ kind: 'child' }) ?? [])];
    assert.deepEqual(
      records.flatMap((record) => (record.kind === 'child' ? [record.event] : [])),
      ['started', 'handoff', 'usage', 'expired'],
    );
    assert.equal(await ask(`/v1/sessions/${child.session_id}`, { token: child.token }, own), '401 token_invalid');
    assert.equal(await ask(`/v1/sessions/${parent.session_id}`, { token: parent.token, method: 'DELETE' }, own), '204');
  });
});

describe('a flood of children [S3-28]', () => {
  async function flood(options: TestHostOptions, count: number): Promise<string[]> {
    await using own = await openHost(options);
    const { socket, sessionId } = await connect(TOKENS.operator, own);
    for (let at = 0; at < count; at++) socket.write(writeFrame(JSON.stringify(childOpen(sessionId))));
    const outcomes: string[] = [];
    while (outcomes.length < count) {
      const message = await nextMessage(socket);
      if (message['type'] === 'ChildAck' || message['type'] === 'ErrorMessage') outcomes.push(outcome(message));
    }
    const acks = outcomes.filter((found) => found === 'ChildAck').length;
    assert.equal(own.host.status().sessions, acks + 1);
    assert.equal(await ask('/healthz', {}, own), '200');
    assert.equal(await ask(`/v1/sessions/${sessionId}?mode=cancel`, { method: 'DELETE' }, own), '204');
    assert.equal(own.host.status().sessions, 0, 'nobody is left');
    assert.match(await ask('/v1/sessions', { body: {} }, own), /^201/);
    socket.cut();
    return outcomes;
  }

  test('ends at the limit of the registry, each message answered', async () => {
    const outcomes = await flood({ registryText: 'children: { max_children: 4 }\n' }, 40);
    assert.equal(outcomes.filter((found) => found === 'ChildAck').length, 4);
  });

  test('ends at the limit of the host, which counts children as sessions', async () => {
    const limits = { maxSessions: 6 };
    const outcomes = await flood({ limits, registryText: 'children: { max_children: 1000 }\n' }, 40);
    assert.deepEqual(
      [
        outcomes.filter((found) => found === 'ChildAck').length,
        outcomes.filter((found) => found === 'limit_reached').length,
      ],
      [5, 35],
    );
  });

  test('leaves nothing behind when each child ends before the next', async () => {
    await using own = await openHost({ registryText: 'children: { max_children: 1000 }\n' });
    const { socket, sessionId, say } = await connect(TOKENS.operator, own);
    for (let at = 0; at < 50; at++) {
      const { session_id } = await say(childOpen(sessionId));
      assert.equal(
        outcome(await say({ type: 'ChildEnd', request_id: `end${at}`, session_id: String(session_id) })),
        'ChildEnded',
      );
    }
    assert.equal(own.host.status().sessions, 1);
    socket.cut();
  });

  test('is not begun on a host that shuts down', async () => {
    await using own = await openHost();
    const parent = await open(TOKENS.operator, own);
    const path = `/v1/sessions/${parent.session_id}/children`;
    assert.equal(await ask(path, { body: { agent_id: 'x' } }, own), '201');
    own.host.state = 'draining';
    assert.equal(await ask(path, { body: { agent_id: 'x' } }, own), '503 draining');
    assert.equal(await ask('/v1/call', { body: childOpen(parent.session_id) }, own), '503 draining');
  });
});
