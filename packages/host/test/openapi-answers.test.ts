import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import type { CallPage, JsonObject, PendingApproval, SessionOpened, WaitingTools } from '@tool-runtime/protocol';
import { nothing, wait } from '@tool-runtime/sdk/testing';
import type { AnyRoute } from '../src/http/route.ts';
import * as catalog from '../src/http/routes/catalog.ts';
import { lazyGateway } from '../src/mcp/gateway/lazy-gateway.ts';
import { signedIn } from './console-sign-in.ts';
import { type Judge, judgeBy, lookUp, pointerTo } from './document-checks.ts';
import { openMember } from './fleet-member.ts';
import { told } from './mcp/gateway-stage.ts';
import { openHost, type TestHost, type TestRequest, TOKENS } from './open-host.ts';
import { eventually } from './wire/within.ts';

const SERVERS = { helper: told(), missing: { command: ['no-such-program'], tools: ['*'] } };
const REGISTRY = `approvals: { require_approval: [fs_delete] }
children: { allow_detach: true }
mcp_servers: ${JSON.stringify(SERVERS)}
`;

/** One answer of each status a route has when all goes well, and refusals of its own. */
type Example = (host: TestHost) => Promise<readonly Response[]>;

let ids = 0;

async function openSession(host: TestHost): Promise<SessionOpened> {
  return (await (await host.request('/v1/sessions', { body: {} })).json()) as SessionOpened;
}

async function openChild(host: TestHost, { session_id }: SessionOpened, body: JsonObject = { agent_id: 'a' }) {
  const answer = await host.request(`/v1/sessions/${session_id}/children`, { body });
  assert.equal(answer.status, 201);
  return (await answer.json()) as SessionOpened;
}

async function childEnvelopes({ session_id }: SessionOpened, send: (body: JsonObject) => Promise<Response>) {
  const opened = await send({ type: 'ChildOpen', request_id: 'open', session_id, agent_id: 'a' });
  const child = (await opened.clone().json()) as SessionOpened;
  const end = { type: 'ChildEnd', request_id: 'end', session_id: child.session_id };
  return [opened, await send(end), await send(end)];
}

function envelope(type: string, { session_id }: SessionOpened, fields: JsonObject = {}): JsonObject {
  return { type, session_id, timestamp: 1, ...fields };
}

function request(session: SessionOpened, tool: string, args: JsonObject = {}): JsonObject & { request_id: string } {
  ids += 1;
  return { ...envelope('ToolRequest', session), request_id: `r${ids}`, tool, args } as JsonObject & {
    request_id: string;
  };
}

function batchOf(session: SessionOpened, type: string): JsonObject {
  const { request_id, tool, args } = request(session, 'probe_nothing') as JsonObject & { request_id: string };
  const calls = [{ request_id, tool: tool as string, args: args as JsonObject }];
  return { ...envelope('BatchRequest', session), request_id: `${request_id}-${type}`, strategy: { type }, calls };
}

/** A call that waits for an approval, and its question. */
async function ask(host: TestHost, session: SessionOpened): Promise<{ call: Promise<Response>; id: string }> {
  const call = host.request('/v1/call', { body: request(session, 'fs_delete', { path: 'hello.txt' }) });
  const id = await eventually(async () => {
    const { approvals } = (await (await host.request('/v1/approvals')).json()) as { approvals: PendingApproval[] };
    return approvals.find(({ session_id }) => session_id === session.session_id)?.approval_id;
  }, 'a question');
  return { call, id };
}

/** As the user the host runs as, whom the kernel names. */
function overSocket({ socket }: TestHost, path: string, body: object): Promise<Response> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ socketPath: socket, path, method: 'POST' }, async (incoming) => {
      const { statusCode = 0, headers } = incoming;
      const text = (await incoming.toArray()).join('');
      resolve(new Response(text, { status: statusCode, headers: { 'content-type': headers['content-type'] ?? '' } }));
    });
    outgoing.on('error', reject).end(JSON.stringify(body));
  });
}

/** Answers of a host of a fleet to another one that takes a child, and to its reports. */
async function takenChild(): Promise<readonly [readonly Response[], readonly Response[]]> {
  const cleanups: (() => unknown)[] = [];
  const { ask, send } = await openMember({ after: (cleanup) => void cleanups.push(cleanup as () => unknown) });
  const client = { user: 'agent', workspace: 'one' };
  const other = { ...client, via: 'b' };
  const parent = (await ask(client, 'POST', '/v1/sessions', {})).body;
  const asked = { agent_id: 'reviewer', workspace: 'two' };
  const child = (await ask(client, 'POST', `/v1/sessions/${parent.session_id}/children`, asked)).body;
  const path = `/v1/sessions/${child.session_id}/elsewhere`;
  const usage = { calls: 1, errors: 0, bytes: 0, duration_ms: 0 };
  const answerOf = async (...given: Parameters<typeof send>): Promise<Response> => {
    const answer = await send(...given);
    const { statusCode = 0, headers } = answer;
    const type = headers['content-type'];
    const isOpen = type === 'application/jsonl' || statusCode === 204;
    const body = isOpen ? null : await textOf(answer);
    return new Response(body, { status: statusCode, headers: type === undefined ? {} : { 'content-type': type } });
  };
  const take = { token: child.token, holder: 'one' };
  const taken = [await answerOf(client, 'POST', path, take), await answerOf(other, 'POST', path, take)];
  const report = { holder: 'one', usage, spent: {} };
  const reported = [
    await answerOf(client, 'POST', `${path}/report`, report),
    await answerOf(other, 'POST', `${path}/report`, { ...report, ended: 'completed' }),
  ];
  for (const cleanup of cleanups) await cleanup();
  return [taken, reported];
}

const get =
  (path: string, how: TestRequest = {}): Example =>
  async (host) => [await host.request(path, how)];

const EXAMPLES: Readonly<Record<keyof typeof catalog, Example>> = {
  async answerApproval(host) {
    const { call, id } = await ask(host, await openSession(host));
    const answers = [];
    for (const answer of ['denied', 'approved']) {
      answers.push(await host.request(`/v1/approvals/${id}`, { body: { answer, reason: 'first' } }));
    }
    await call;
    return [...answers, await host.request('/v1/approvals/none', { body: { answer: 'denied' } })];
  },
  async approveTools(host) {
    const refreshed = await host.request('/v1/mcp/servers/helper/refresh', { body: {} });
    const { waiting } = (await refreshed.json()) as WaitingTools;
    const approve = (server: string, digest = '') =>
      host.request(`/v1/mcp/servers/${server}/approve`, { body: { tools: [{ tool: 'work', digest }] } });
    return [await approve('helper'), await approve('helper', waiting[0]?.digest), await approve('none')];
  },
  async showFleet(host) {
    const cleanups: (() => unknown)[] = [];
    const { running } = await openMember({ after: (cleanup) => void cleanups.push(cleanup as () => unknown) });
    const headers = { authorization: `Bearer ${running.token}` };
    const answers = [await host.request('/v1/fleet'), await fetch(`${running.url}/v1/fleet`, { headers })];
    for (const cleanup of cleanups) await cleanup();
    return answers;
  },
  listMcpServers: get('/v1/mcp/servers'),
  async listWaitingTools(host) {
    const list = (server: string) => host.request(`/v1/mcp/servers/${server}/waiting`);
    return [await list('helper'), await list('none')];
  },
  async refreshMcpServer(host) {
    const refresh = (server: string) => host.request(`/v1/mcp/servers/${server}/refresh`, { body: {} });
    return [await refresh('helper'), await refresh('missing'), await refresh('none')];
  },
  asyncapi: get('/asyncapi.json', { token: '' }),
  async call(host) {
    const session = await openSession(host);
    const waiting = await ask(host, session);
    const send = (body: JsonObject) => host.request('/v1/call', { body });
    const first = request(session, 'probe_nothing');
    const answers = [
      await send(first),
      await send(first),
      await send(request(session, 'file_read', { path: 'missing.txt' })),
      await send(envelope('Heartbeat', session)),
      await send(envelope('CancelRequest', session, { request_id: 'none' })),
      await send({ type: 'ApprovalAnswer', approval_id: waiting.id, answer: 'denied' }),
      ...(await childEnvelopes(session, send)),
      await send(batchOf(session, 'sequential')),
      await send(batchOf(session, 'all_at_once')),
      await send({ type: 'SessionAttach', session_id: session.session_id }),
      await send(request({ ...session, session_id: 'none' }, 'probe_nothing')),
      await host.request('/v1/call', { body: 'x'.repeat(3_000_000) }),
    ];
    return [...answers, await waiting.call];
  },
  async callState(host) {
    const session = await openSession(host);
    const running = request(session, 'probe_wait', { ms: 60_000 });
    const done = request(session, 'probe_nothing');
    const call = host.request('/v1/call', { body: running });
    await host.request('/v1/call', { body: done });
    const ask = (id: string) => host.request(`/v1/sessions/${session.session_id}/calls/${id}`);
    const answers = [
      await eventually(async () => {
        const answer = await ask(running.request_id);
        return answer.status === 202 && answer;
      }, 'the call to run'),
      await ask(done.request_id),
      await ask('none'),
    ];
    await host.request('/v1/call', { body: envelope('CancelRequest', session, { request_id: running.request_id }) });
    await call;
    return answers;
  },
  async commandCall(host) {
    const body = { tool: 'file_read', words: ['path=hello.txt'], is_shown: true };
    const answers = [
      await host.request('/v1/command-call', { body }),
      await overSocket(host, '/v1/command-call', body),
    ];
    return [...answers, await overSocket(host, '/v1/command-call', { ...body, tool: 'fs_delete' })];
  },
  async closeSession(host) {
    const session = await openSession(host);
    const path = `/v1/sessions/${session.session_id}`;
    const close = (query: string) => host.request(path + query, { method: 'DELETE' });
    const { session_id } = await openChild(host, session);
    return [
      await close('?mode=sometimes'),
      await close(''),
      await host.request(`/v1/sessions/${session_id}`, { method: 'DELETE' }),
      await close('?mode=cancel'),
      await close(''),
    ];
  },
  takeChild: async () => (await takenChild())[0],
  reportChild: async () => (await takenChild())[1],
  async detachChild(host) {
    const session = await openSession(host);
    const owned = await openChild(host, session);
    const free = await openChild(host, session, { agent_id: 'free', lifecycle: 'reclaimable' });
    const reclaim = { kind: 'runtime_package', id: 'policy.child.reclaimable' };
    const detach = (id: string, body: JsonObject = { acknowledged_by: 'operator', reclaim }) =>
      host.request(`/v1/sessions/${id}/detach`, { body });
    return [
      await detach(owned.session_id),
      await detach(free.session_id, {}),
      await detach(free.session_id),
      await detach(free.session_id),
      await detach('none'),
    ];
  },
  async drain(host) {
    return [await host.request('/v1/drain', { method: 'POST' })];
  },
  async events(host) {
    const { session_id, token } = await openSession(host);
    const stream = await host.request('/v1/events', { token });
    await stream.body?.cancel();
    return [
      stream,
      await host.request('/v1/events'),
      await host.request(`/v1/events?session_id=${session_id}&after=x`),
    ];
  },
  async activity(host) {
    const stream = await host.request('/v1/activity?after=0');
    await stream.body?.cancel();
    return [stream, await host.request('/v1/activity', { token: TOKENS.caller })];
  },
  async consoleLink(host) {
    const make = (body: JsonObject, token?: string) =>
      host.request('/v1/console/links', { body, ...(token === undefined ? {} : { token }) });
    return [
      await make({}),
      await make({ role: 'viewer' }),
      await make({ role: 'king' }),
      await make({}, TOKENS.reader),
    ];
  },
  async consoleSignIn(host) {
    const { path } = (await (await host.request('/v1/console/links', { body: {} })).json()) as { path: string };
    const code = path.slice('/#code='.length);
    const origin = { origin: host.url };
    const signIn = (headers: Record<string, string>) =>
      host.request('/v1/console/sign-in', { body: { code }, token: '', headers });
    return [await signIn({}), await signIn(origin), await signIn(origin)];
  },
  consoleSession: async (host) => [
    await host.request('/v1/console/session', await signedIn(host)),
    await host.request('/v1/console/session'),
  ],
  async consoleSignOut(host) {
    const how = { ...(await signedIn(host)), method: 'POST' };
    return [await host.request('/v1/console/sign-out', how), await host.request('/v1/console/sign-out', how)];
  },
  async exportRecords(host) {
    const save = (query: string) => host.request(`/v1/records/export${query}`);
    return [await save(''), await save('?format=pdf')];
  },
  healthz: get('/healthz', { token: '' }),
  async journalState(host) {
    return [await host.request('/v1/journal'), await host.request('/v1/journal?workspace=none')];
  },
  async listCalls(host) {
    const session = await openSession(host);
    await host.request('/v1/call', { body: request(session, 'probe_nothing') });
    const list = (query: string) => host.request(`/v1/calls${query}`);
    return [
      await list('?facets=true&limit=3'),
      await list('?limit=x'),
      await list('?tool=probe_nothing&archived=true'),
    ];
  },
  async listFamilies(host) {
    await openChild(host, await openSession(host));
    return [await host.request('/v1/families'), await host.request('/v1/families?limit=0')];
  },
  async listRecords(host) {
    await openSession(host);
    const list = (query: string) => host.request(`/v1/records${query}`);
    return [await list(''), await list('?facets=true&kind=session&text=operator'), await list('?surprise=1')];
  },
  async metricsHistory(host) {
    host.host.history.sample();
    return [await host.request('/v1/metrics/history')];
  },
  async showCall(host) {
    const session = await openSession(host);
    await host.request('/v1/call', { body: request(session, 'file_read', { path: 'hello.txt' }) });
    const { calls } = (await (await host.request(`/v1/calls?session=${session.session_id}`)).json()) as CallPage;
    return [await host.request(`/v1/calls/${calls[0]?.call_id}`), await host.request('/v1/calls/none')];
  },
  showRegistry: get('/v1/registry'),
  async verifyJournal(host) {
    const verify = (body: JsonObject) => host.request('/v1/journal/verify', { body });
    return [await verify({ archives: true }), await verify({ archives: 'yes' })];
  },
  async listApprovals(host) {
    const { call, id } = await ask(host, await openSession(host));
    const listed = await host.request('/v1/approvals');
    await host.request(`/v1/approvals/${id}`, { body: { answer: 'denied' } });
    await call;
    return [listed];
  },
  async listChildren(host) {
    const session = await openSession(host);
    await openChild(host, session);
    const list = (id: string) => host.request(`/v1/sessions/${id}/children`);
    return [await list(session.session_id), await list('none')];
  },
  async listSessions(host) {
    await openSession(host);
    return [await host.request('/v1/sessions')];
  },
  async toolsOpenapi(host) {
    const { token } = await openSession(host);
    const ask = (query: string, more: TestRequest = {}) => host.request(`/v1/openapi.json${query}`, more);
    return [await ask('', { token }), await ask(''), await ask('?session_id=none')];
  },
  async listTools(host) {
    const { token } = await openSession(host);
    const tools = (query: string) => host.request(`/v1/tools${query}`, { token });
    return [
      await tools(''),
      await tools('?name=file_read'),
      await tools('?name=none'),
      await host.request('/v1/tools'),
    ];
  },
  metrics: get('/metrics'),
  async openSession(host) {
    const open = (body: unknown) => host.request('/v1/sessions', { body });
    return [await open({}), await open(''), await open({ surprise: 1 }), await open({ workspace: '/elsewhere' })];
  },
  async openChild(host) {
    const { session_id } = await openSession(host);
    const open = (body: unknown, id = session_id) => host.request(`/v1/sessions/${id}/children`, { body });
    const policy_ref = { kind: 'context', id: 'policy.handoff' };
    return [
      await open({ agent_id: 'plain' }),
      await open({
        agent_id: 'full',
        tools: { type: 'inherit_allowlist' },
        handoff: { type: 'full_history_with_policy', policy_ref, projection_audit_required: true },
        budget: {},
        depth: { max_depth: 1 },
        lifecycle: 'reclaimable',
        heartbeat_timeout_ms: 60_000,
        capabilities: { side_effect_level: 'read_only' },
        registry: 'version: 1\n',
      }),
      await open({}),
      await open({ agent_id: 'x', tools: ['none'] }),
      await open({ agent_id: 'x', folder: '../..' }),
      await open({ agent_id: 'x' }, 'none'),
    ];
  },
  openapi: get('/openapi.json', { token: '' }),
  async proposePlan(host) {
    const { session_id } = await openSession(host);
    const propose = (body: JsonObject) => host.request(`/v1/sessions/${session_id}/plans`, { body });
    const steps = ['file_read', 'fs_delete', 'none'].map((tool) => ({ tool, args: { path: 'hello.txt' } }));
    return [await propose({ steps, note: 'tidy up' }), await propose({ steps: [] })];
  },
  async explainPolicy(host) {
    const { session_id } = await openSession(host);
    const explain = (body: JsonObject) => host.request('/v1/policy/explain', { body });
    const call = { tool: 'fs_delete', args: { path: 'hello.txt' } };
    return [
      await explain(call),
      await explain({ ...call, session_id }),
      await explain({ ...call, registry: 'tools: { fs_delete: { enabled: false } }' }),
      await explain({ ...call, registry: 'nope: 1' }),
      await explain({ tool: 'none', args: {} }),
      await explain({ ...call, session_id: 'none' }),
    ];
  },
  async checkPolicy(host) {
    const check = (body: JsonObject) => host.request('/v1/policy/check', { body });
    const example = '{ tool: file_read, args: { path: a } }';
    return [
      await check({}),
      await check({ registry: `examples: { allow: [${example}], deny: [${example}] }` }),
      await check({ workspace: '/nowhere' }),
    ];
  },
  async simulatePolicy(host) {
    const session = await openSession(host);
    await host.request('/v1/call', { body: request(session, 'file_read', { path: 'hello.txt' }) });
    const simulate = (body: JsonObject, how: TestRequest = {}) => host.request('/v1/policy/simulate', { body, ...how });
    return [
      await simulate({ registry: 'tools: { file_read: { enabled: false } }', since: 0 }),
      await simulate({ registry: 'version: 1' }, { token: TOKENS.caller }),
    ];
  },
  async suggestPolicy(host) {
    const suggest = (how: TestRequest) => host.request('/v1/policy/suggest', { body: {}, ...how });
    return [await suggest({}), await suggest({ token: TOKENS.caller })];
  },
  async diffPolicy(host) {
    const diff = (body: JsonObject) => host.request('/v1/policy/diff', { body });
    return [
      await diff({ a: 'version: 1', b: 'allowed_tools: [file_read]' }),
      await diff({ a: 'nope: 1', b: 'version: 1' }),
    ];
  },
  readyz: get('/readyz', { token: '' }),
  async showSession(host) {
    const { session_id } = await openSession(host);
    return [await host.request(`/v1/sessions/${session_id}`), await host.request('/v1/sessions/none')];
  },
  status: get('/v1/status'),
};

describe('real answers match the OpenAPI document', () => {
  let host: TestHost;
  let document: JsonObject;
  let judge: Judge;

  before(async () => {
    host = await openHost({
      registryText: REGISTRY,
      files: { 'tools.json': JSON.stringify([{ name: 'work' }]) },
      runtime: { tools: [nothing, wait], sources: [lazyGateway()] },
    });
    document = (await (await host.request('/openapi.json', { token: '' })).json()) as JsonObject;
    judge = judgeBy(document);
  });
  after(() => host[Symbol.asyncDispose]());

  async function assertDescribed({ path, method }: AnyRoute, answer: Response): Promise<void> {
    const described = lookUp(document, pointerTo('paths', path, method, 'responses', `${answer.status}`));
    assert.ok(described !== undefined, `${answer.status} is not described`);
    const [type] = Object.keys((described['content'] ?? {}) as JsonObject);
    assert.equal(answer.headers.get('content-type'), type ?? null);
    if (type !== 'application/json') {
      if (type === undefined) assert.equal(await answer.text(), '');
      return;
    }
    const response = lookUp(document, pointerTo('paths', path, method))?.['responses'] as Record<string, JsonObject>;
    const place =
      response[answer.status]?.['$ref'] ?? pointerTo('paths', path, method, 'responses', `${answer.status}`);
    const value = await answer.json();
    assert.deepEqual(judge(`${place}/content/application~1json/schema`, value), [], JSON.stringify(value));
  }

  for (const route of Object.values(catalog) as AnyRoute[]) {
    test(`${route.id}: ${route.method.toUpperCase()} ${route.path}`, async () => {
      const example = EXAMPLES[route.id as keyof typeof EXAMPLES];
      assert.ok(example !== undefined, 'a new route needs an example here');
      const answers = await example(host);
      for (const answer of answers) await assertDescribed(route, answer);
      const seen = new Set(answers.map(({ status }) => `${status}`));
      const successes = Object.keys(route.answers).filter((status) => status.startsWith('2'));
      assert.deepEqual(
        successes.filter((status) => !seen.has(status)),
        [],
        'every good answer is shown',
      );
    });

    test(`${route.id} refuses a foreign page${route.scope === 'open' ? '' : ' and a missing or expired token'} as described`, async () => {
      const path = route.path.replaceAll(/\{\w+\}/g, 'none');
      const method = route.method.toUpperCase();
      const foreign = await host.request(path, { method, headers: { origin: 'https://elsewhere.example' } });
      assert.equal(foreign.status, 403);
      await assertDescribed(route, foreign);
      if (route.scope === 'open') return;
      for (const token of ['', TOKENS.expired]) {
        const refused = await host.request(path, { method, token });
        assert.equal(refused.status, 401);
        await assertDescribed(route, refused);
      }
    });
  }

  test('an answer that the document does not describe is found', async () => {
    const { status } = catalog;
    const wrong = (body: unknown, code = 200) =>
      assertDescribed(status, Response.json(body, { status: code, headers: { 'content-type': 'application/json' } }));
    await assert.rejects(wrong({ pid: 1 }), /must have required property/);
    await assert.rejects(wrong({}, 299), /299 is not described/);
  });
});

test('a host that shuts down or is full refuses as described', async () => {
  await using host = await openHost({ limits: { maxSessions: 0 } });
  const document = (await (await host.request('/openapi.json', { token: '' })).json()) as JsonObject;
  const judge = judgeBy(document);
  const error = pointerTo('components', 'schemas', 'ErrorMessage');
  const full = await host.request('/v1/sessions', { body: {} });
  assert.deepEqual([full.status, full.headers.has('retry-after'), judge(error, await full.json())], [429, true, []]);
  host.host.state = 'draining';
  const draining = await host.request('/v1/sessions', { body: {} });
  assert.deepEqual(
    [draining.status, draining.headers.has('retry-after'), judge(error, await draining.json())],
    [503, true, []],
  );
  const ready = await host.request('/readyz');
  const schema = pointerTo('paths', '/readyz', 'get', 'responses', '503', 'content', 'application/json', 'schema');
  assert.deepEqual([ready.status, judge(schema, await ready.json())], [503, []]);
});
