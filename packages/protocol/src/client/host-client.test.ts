import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { readText, sendJson } from '../../test/loopback-host.ts';
import { refusal, responseTo } from '../../test/model-host.ts';
import { rejection } from '../../test/rejection.ts';
import { SAMPLES } from '../../test/sample-messages.ts';
import { createHostClient, type HostClient } from './host-client.ts';

interface Seen {
  readonly line: string;
  readonly token: string | undefined;
  readonly body: unknown;
}

/** A server that gives one answer to everything and remembers what it was asked. */
async function serve(context: TestContext, status: number, answer?: unknown) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const text = await readText(request);
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    seen.push({ line: `${request.method} ${request.url}`, token: request.headers.authorization, body });
    if (typeof answer === 'string') response.writeHead(status).end(answer);
    else sendJson(response, status, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { host: createHostClient({ url, token: 'abc' }), seen, url };
}

const opened = {
  session_id: 's/1',
  token: 't',
  server_version: '1',
  workspace: '/w',
  actor: 'a',
  heartbeat_timeout_ms: 1000,
  fingerprint: 'f',
  tools: ['file_read'],
  side_effect_level: 'none',
  warnings: [],
};
const info = {
  session_id: 's/1',
  workspace: '/w',
  actor: 'a',
  client: 'c',
  state: 'open',
  opened_at: 1,
  in_flight: 0,
  last_event_id: 0,
  heartbeat_timeout_ms: 1000,
  fingerprint: 'f',
};
const approval = {
  approval_id: 'p',
  session_id: 's',
  call_id: 'c',
  tool: 't',
  args: {},
  summary: '',
  paths: [],
  actor: 'a',
  reason: 'r',
  allowed_answers: ['denied'],
  asked_at: 1,
  expires_at: 2,
};
const status = {
  server_version: '1',
  state: 'ready',
  started_at: 1,
  uptime_ms: 1,
  pid: 1,
  workspaces: [],
  sessions: 0,
  connections: 0,
  in_flight: 0,
  queued: 0,
  approvals: 0,
  memory_bytes: 1,
};
const answered = { approval_id: 'p', answer: 'denied', by: 'a' };
const tools = { tools: [{ name: 'file_read', title: 'Read' }], hidden: [{ name: 'x', reason: 'off' }] };
const verdict = { plan_id: 'p', accepted: true, steps: [], errors: [], warnings: [] };
const { parent_session_id, agent_id, package_fingerprint, manifest, handoff, depth } = SAMPLES.ChildAck;
const child = { ...opened, parent_session_id, agent_id, package_fingerprint, manifest, handoff, depth };
const { usage } = SAMPLES.ChildEnded;
const detach = { acknowledged_by: 'operator', reclaim: { kind: 'runtime_package', id: 'policy' } } as const;
const answer = responseTo(SAMPLES.ToolRequest, {});

type Row = readonly [string, number, unknown, (host: HostClient) => Promise<unknown>, unknown, unknown?];
const rows: readonly Row[] = [
  ['POST /v1/sessions', 201, opened, (host) => host.openSession({ workspace: '/w' }), opened, { workspace: '/w' }],
  ['POST /v1/sessions', 201, opened, (host) => host.openSession(), opened, {}],
  ['GET /v1/sessions', 200, { sessions: [info] }, (host) => host.sessions(), [info]],
  ['GET /v1/sessions/s%2F1', 200, info, (host) => host.session('s/1'), info],
  ['DELETE /v1/sessions/s?mode=wait', 204, undefined, (host) => host.closeSession('s'), undefined],
  [
    'DELETE /v1/sessions/s?mode=cancel',
    204,
    undefined,
    (host) => host.closeSession('s', { mode: 'cancel' }),
    undefined,
  ],
  [
    'POST /v1/sessions/s/children',
    201,
    child,
    (host) => host.openChild('s', { agent_id: 'reviewer', tools: ['grep'] }),
    child,
    { agent_id: 'reviewer', tools: ['grep'] },
  ],
  ['GET /v1/sessions/s/children', 200, { children: [info] }, (host) => host.children('s'), [info]],
  ['DELETE /v1/sessions/c?mode=wait', 200, usage, (host) => host.endChild('c'), usage],
  ['DELETE /v1/sessions/c?mode=cancel', 200, usage, (host) => host.endChild('c', { mode: 'cancel' }), usage],
  ['POST /v1/sessions/c/detach', 204, undefined, (host) => host.detachChild('c', detach), undefined, detach],
  ['GET /v1/tools?session_id=s%26', 200, tools, (host) => host.tools('s&'), tools],
  ['GET /v1/approvals', 200, { approvals: [approval] }, (host) => host.approvals(), [approval]],
  [
    'POST /v1/approvals/p',
    200,
    answered,
    (host) => host.answerApproval('p', { answer: 'denied', reason: 'no' }),
    answered,
    { answer: 'denied', reason: 'no' },
  ],
  [
    'POST /v1/sessions/s/plans',
    200,
    verdict,
    (host) => host.propose('s', { steps: [{ tool: 't', args: {} }] }),
    verdict,
    { steps: [{ tool: 't', args: {} }] },
  ],
  ['GET /v1/sessions/s/calls/r', 200, answer, (host) => host.callState('s', 'r'), { state: 'answered', answer }],
  [
    'GET /v1/sessions/s/calls/r',
    202,
    { request_id: 'r', state: 'running' },
    (host) => host.callState('s', 'r'),
    { state: 'running' },
  ],
  ['GET /v1/status', 200, status, (host) => host.status(), status],
  ['POST /v1/drain', 202, { state: 'draining' }, (host) => host.drain(), undefined],
];

describe('the client of the host', () => {
  for (const [line, code, body, ask, expected, sent] of rows) {
    test(`asks ${line} and reads status ${code}`, async (context) => {
      const { host, seen } = await serve(context, code, body);
      assert.deepEqual(await ask(host), expected);
      assert.deepEqual(seen, [{ line, token: 'Bearer abc', body: sent }]);
    });
  }

  test('a refusal becomes a ToolError with code, message, details and status', async (context) => {
    const refused = {
      ...refusal(null, 'E_POLICY', 'already_answered'),
      details: { reason: 'already_answered', by: 'x' },
    };
    const { host } = await serve(context, 409, refused);
    const { code, message, details } = await rejection(host.answerApproval('p', { answer: 'approved' }));
    assert.deepEqual(
      { code, message, details },
      { code: 'E_POLICY', message: refused.message, details: { reason: 'already_answered', by: 'x', status: 409 } },
    );
  });

  for (const [name, code, body] of [
    ['a page of something else', 200, '<html>'],
    ['fields that are missing', 200, { sessions: 1 }],
    ['an error page', 502, '<html>bad gateway</html>'],
  ] as const) {
    test(`${name} is refused as the answer of no host`, async (context) => {
      const { host } = await serve(context, code, body);
      const error = await rejection(host.sessions());
      assert.deepEqual([error.code, error.details['reason'], error.details['status']], ['E_HTTP', 'bad_answer', code]);
    });
  }

  test('no host at the address is E_HTTP, without the token', async () => {
    const error = await rejection(createHostClient({ url: 'http://127.0.0.1:1', token: 'secret' }).status());
    assert.deepEqual([error.code, error.details['reason']], ['E_HTTP', 'no_answer']);
    assert.doesNotMatch(JSON.stringify([error.message, error.details]), /secret/);
  });
});
