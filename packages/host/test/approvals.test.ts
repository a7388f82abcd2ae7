/** Questions that wait for a person, answered over HTTP, over WebSocket and by the program that holds the host. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { AnswerApprovalBody, PendingApproval, SessionOpened, ToolResponse } from '@tool-runtime/protocol';
import { wait } from '@tool-runtime/sdk/testing';
import { createJudge } from './conformance/traffic.ts';
import { openHost, type TestHost, type TestHostOptions, TOKENS } from './open-host.ts';
import { addressOf } from './wire/raw-socket.ts';
import { nextFrame, upgrade, writeFrame } from './wire/raw-web-socket.ts';
import { eventually } from './wire/within.ts';

const REGISTRY = `version: 1
approvals:
  auto_approve: [file_read, probe_wait]
  require_approval: [file_write]
arg_constraints:
  - {tool: file_write, arg_key: path, arg_patterns: ['allowed-*', 'sub/*']}
`;

/** Gives `answered`, or the reason of the refusal. */
type Answer = (approvalId: string, body: AnswerApprovalBody) => Promise<string>;

interface Desk {
  readonly name: string;
  /** Who the journal says it was. */
  readonly by: string;
  open(host: TestHost): Promise<Answer> | Answer;
}

const DESKS: readonly Desk[] = [
  {
    name: 'HTTP, its own route',
    by: 'approver',
    open: (host) => async (id, body) => {
      const answer = await host.request(`/v1/approvals/${encodeURIComponent(id)}`, { token: TOKENS.approver, body });
      return reasonOf(await answer.json());
    },
  },
  {
    name: 'HTTP, an envelope',
    by: 'approver',
    open: (host) => async (approval_id, body) => {
      const message = { type: 'ApprovalAnswer', approval_id, ...body };
      const answer = await host.request('/v1/call', { token: TOKENS.approver, body: message });
      return reasonOf(await answer.json());
    },
  },
  {
    name: 'WebSocket',
    by: 'operator',
    async open(host) {
      const { socket } = await upgrade(addressOf(host.url), {
        host: new URL(host.url).host,
        token: TOKENS.operator,
      });
      await nextFrame(socket);
      return async (approval_id, body) => {
        socket.write(writeFrame(JSON.stringify({ type: 'ApprovalAnswer', approval_id, ...body })));
        return reasonOf(JSON.parse(String((await nextFrame(socket)).payload)));
      };
    },
  },
  {
    name: 'the program that holds the host',
    by: 'library',
    open: (host) => async (approval_id, body) => {
      const principal = { id: 'library', name: 'library', scopes: new Set(['approve'] as const) };
      try {
        host.host.approvals.answer({ ...body, approval_id }, principal);
        return 'answered';
      } catch (thrown) {
        return String((thrown as { details: { reason: string } }).details.reason);
      }
    },
  },
];

function reasonOf(value: unknown): string {
  const { type, details } = value as { type?: string; details?: { reason?: string } };
  return type === 'ErrorMessage' ? String(details?.reason) : 'answered';
}

let requests = 0;
/** A call that may have to wait for a yes. */
function call(host: TestHost, session: SessionOpened, tool: string, args: object): Promise<ToolResponse> {
  requests += 1;
  const body = {
    type: 'ToolRequest',
    tool,
    args,
    request_id: `r${requests}`,
    session_id: session.session_id,
    timestamp: 1,
  };
  return host
    .request('/v1/call', { token: session.token, body })
    .then((answer) => answer.json()) as Promise<ToolResponse>;
}

function write(host: TestHost, session: SessionOpened, path: string, content = 'text'): Promise<ToolResponse> {
  return call(host, session, 'file_write', { path, content });
}

async function open(host: TestHost): Promise<SessionOpened> {
  return (await (await host.request('/v1/sessions', { token: TOKENS.caller, body: {} })).json()) as SessionOpened;
}

/** The question that waits in this session; `nth` of those asked about one call. */
function question(host: TestHost, { session_id }: SessionOpened): Promise<PendingApproval> {
  return eventually(async () => {
    const answer = await host.request('/v1/approvals', { token: TOKENS.approver });
    const { approvals } = (await answer.json()) as { approvals: PendingApproval[] };
    return approvals.find((approval) => approval.session_id === session_id);
  }, 'a question');
}

/** What the journal says about the questions of a session, in order. */
function journaled(host: TestHost, { session_id }: SessionOpened): string[] {
  return Array.from(host.host.workspaces.all[0]?.runtime.records({ kind: 'approval' }) ?? []).flatMap((record) =>
    record.kind === 'approval' && record.session_id === session_id
      ? [
          [record.phase, record.answer, record.answered_by, record.reason]
            .filter((word) => word !== undefined)
            .join(' '),
        ]
      : [],
  );
}

function outcomeOf({ ok, errors }: ToolResponse): string {
  return ok ? 'ok' : String(errors[0]?.details?.['reason'] ?? errors[0]?.code);
}

async function openApprovals(options: TestHostOptions = {}): Promise<TestHost> {
  // No signs of life between the answers: the tests read one message for each they send.
  const limits = { heartbeatMs: 3_600_000, ...options.limits };
  return openHost({ registryText: REGISTRY, ...options, limits, runtime: { tools: [wait] } });
}

for (const desk of DESKS) {
  describe(`an approval answered over ${desk.name}`, () => {
    let host: TestHost;
    let answer: Answer;
    before(async () => {
      host = await openApprovals();
      answer = await desk.open(host);
    });
    after(() => host[Symbol.asyncDispose]());
    const has = (name: string): boolean => existsSync(join(host.workspace, name));

    test('lets one call through, and asks again for the next', async () => {
      const session = await open(host);
      const first = write(host, session, 'allowed-1');
      const asked = await question(host, session);
      assert.deepEqual(createJudge()('PendingApproval', asked), []);
      assert.deepEqual([asked.tool, asked.args['path'], asked.actor], ['file_write', 'allowed-1', 'caller']);
      assert.equal(has('allowed-1'), false);
      assert.equal(await answer(asked.approval_id, { answer: 'approved' }), 'answered');
      assert.equal(outcomeOf(await first), 'ok');
      assert.equal(has('allowed-1'), true);
      const second = write(host, session, 'allowed-2');
      const again = await question(host, session);
      assert.equal(await answer(again.approval_id, { answer: 'denied' }), 'answered');
      assert.equal(outcomeOf(await second), 'approval.denied');
      assert.equal(has('allowed-2'), false);
      assert.deepEqual(journaled(host, session), [
        'dispatched',
        `answered approved ${desk.by}`,
        'dispatched',
        `answered denied ${desk.by} approval.denied`,
      ]);
    });

    test('lets all further calls of the session through, and of no other', async () => {
      const [session, other] = [await open(host), await open(host)];
      const first = write(host, session, 'allowed-3');
      const asked = await question(host, session);
      assert.equal(await answer(asked.approval_id, { answer: 'approved_for_session' }), 'answered');
      assert.equal(outcomeOf(await first), 'ok');
      assert.equal(outcomeOf(await write(host, session, 'allowed-4')), 'ok');
      const foreign = write(host, other, 'allowed-5');
      const again = await question(host, other);
      assert.equal(await answer(again.approval_id, { answer: 'denied' }), 'answered');
      assert.equal(outcomeOf(await foreign), 'approval.denied');
      assert.deepEqual(journaled(host, session), ['dispatched', `answered approved_for_session ${desk.by}`]);
    });

    test('says no, with a reason that is kept', async () => {
      const session = await open(host);
      const denied = write(host, session, 'allowed-6');
      const { approval_id } = await question(host, session);
      assert.equal(await answer(approval_id, { answer: 'denied', reason: 'not on a Sunday' }), 'answered');
      assert.equal(outcomeOf(await denied), 'approval.denied');
      assert.equal(has('allowed-6'), false);
      const [, record] = journaled(host, session);
      assert.equal(record, `answered denied ${desk.by} approval.denied: not on a Sunday`);
    });

    test('edits the arguments, which are judged again from the start', async () => {
      const session = await open(host);
      const edited = write(host, session, 'allowed-7', 'as asked');
      const first = await question(host, session);
      const args = { path: 'allowed-8', content: 'as edited' };
      assert.equal(await answer(first.approval_id, { answer: 'approved', args }), 'answered');
      const second = await eventually(async () => {
        const asked = await question(host, session);
        return asked.approval_id !== first.approval_id && asked;
      }, 'a question about the edited call');
      assert.deepEqual(second.args['content'], 'as edited');
      assert.equal(has('allowed-8'), false);
      assert.equal(await answer(second.approval_id, { answer: 'approved' }), 'answered');
      assert.equal(outcomeOf(await edited), 'ok');
      assert.deepEqual(
        [has('allowed-7'), readFileSync(join(host.workspace, 'allowed-8'), 'utf8')],
        [false, 'as edited'],
      );
    });

    test('edits the arguments into what a rule forbids: refused, though a person said yes', async () => {
      for (const path of ['forbidden', '../outside', '.git/config', '/etc/passwd']) {
        const session = await open(host);
        const edited = write(host, session, 'allowed-9');
        const { approval_id } = await question(host, session);
        const args = { path, content: 'as edited' };
        assert.equal(await answer(approval_id, { answer: 'approved_for_session', args }), 'answered');
        const { ok, errors } = await edited;
        assert.deepEqual([ok, has('allowed-9'), has(path)], [false, false, path === '/etc/passwd' && has(path)]);
        assert.match(String(errors[0]?.code), /^E_(POLICY|VALIDATION_FAIL)$/, path);
        // The yes was for other arguments: it does not hold for the session.
        const next = write(host, session, 'allowed-10');
        const again = await question(host, session);
        assert.equal(await answer(again.approval_id, { answer: 'denied' }), 'answered');
        assert.equal(outcomeOf(await next), 'approval.denied');
      }
    });

    test('comes too late, twice, for nothing, or in other words: refused', async () => {
      const session = await open(host);
      const waiting = write(host, session, 'allowed-11');
      const { approval_id } = await question(host, session);
      assert.equal(await answer('approval.unknown', { answer: 'approved' }), 'unknown_approval');
      assert.equal(await answer(approval_id, { answer: 'denied' }), 'answered');
      for (const word of ['approved', 'denied'] as const) {
        assert.equal(await answer(approval_id, { answer: word }), 'already_answered');
      }
      assert.equal(outcomeOf(await waiting), 'approval.denied');
      assert.equal(has('allowed-11'), false);
    });
  });
}

describe('approvals', () => {
  test('two answers at once: exactly one wins, a hundred times (deep)', async () => {
    await using host = await openApprovals();
    const desks = await Promise.all(DESKS.map((desk) => desk.open(host)));
    const session = await open(host);
    const words = ['approved', 'denied'] as const;
    for (let round = 0; round < 100; round++) {
      const path = `allowed-${round}`;
      const waiting = write(host, session, path);
      const { approval_id } = await question(host, session);
      // Every pair of ways, in both orders, and by turns who says yes.
      const [one, other] = [round % desks.length, Math.floor(round / desks.length) % desks.length];
      const answers = [one, other === one ? (one + 1) % desks.length : other].map((index, place) =>
        (desks[index] as Answer)(approval_id, { answer: words[(round + place) % 2] as 'approved' | 'denied' }),
      );
      const outcomes = await Promise.all(answers);
      assert.deepEqual(outcomes.toSorted(), ['already_answered', 'answered']);
      const winner = words[(round + outcomes.indexOf('answered')) % 2];
      assert.equal(outcomeOf(await waiting), winner === 'approved' ? 'ok' : 'approval.denied');
      assert.equal(existsSync(join(host.workspace, path)), winner === 'approved');
      assert.ok(journaled(host, session).at(-1)?.startsWith(`answered ${winner}`));
    }
    const records = journaled(host, session);
    assert.equal(records.filter((record) => record === 'dispatched').length, 100);
    assert.equal(records.length, 200);
  });

  test('two answers in one breath: the first wins', async () => {
    await using host = await openApprovals();
    const session = await open(host);
    const waiting = write(host, session, 'allowed-1');
    const { approval_id } = await question(host, session);
    const principal = { id: 'library', name: 'library', scopes: new Set(['approve'] as const) };
    const given = host.host.approvals.answer({ approval_id, answer: 'denied' }, principal);
    assert.equal(given.answer, 'denied');
    assert.throws(() => host.host.approvals.answer({ approval_id, answer: 'approved' }, principal), {
      details: { gate: 'approval', reason: 'already_answered', approval_id, answer: 'denied', by: 'library' },
    });
    assert.equal(outcomeOf(await waiting), 'approval.denied');
  });

  test('an answer after the time is over is refused, and nothing is done (deep)', async () => {
    await using host = await openApprovals({ registryText: `${REGISTRY}limits: {approval_timeout_ms: 200}\n` });
    const session = await open(host);
    assert.equal(outcomeOf(await write(host, session, 'allowed-1')), 'approval.timeout');
    const [asked] = host.host.workspaces.all[0]?.runtime.records({ kind: 'approval' }) ?? [];
    const approval_id = asked?.kind === 'approval' ? asked.approval_id : '';
    for (const desk of DESKS) {
      assert.equal(await (await desk.open(host))(approval_id, { answer: 'approved' }), 'unknown_approval');
    }
    assert.equal(existsSync(join(host.workspace, 'allowed-1')), false);
    assert.deepEqual(journaled(host, session), ['dispatched', 'answered denied approval.timeout']);
  });

  test('an answer after the call was cancelled is refused, and nothing is done', async () => {
    await using host = await openApprovals();
    const session = await open(host);
    const waiting = write(host, session, 'allowed-1');
    const { approval_id } = await question(host, session);
    const cancel = { type: 'CancelRequest', session_id: session.session_id, request_id: `r${requests}`, timestamp: 1 };
    assert.equal((await host.request('/v1/call', { token: session.token, body: cancel })).status, 202);
    assert.equal((await waiting).ok, false);
    for (const desk of DESKS) {
      assert.equal(await (await desk.open(host))(approval_id, { answer: 'approved' }), 'unknown_approval');
    }
    assert.equal(host.host.approvals.size, 0);
    assert.equal(existsSync(join(host.workspace, 'allowed-1')), false);
  });

  test('an answer after the session ended is refused', async () => {
    await using host = await openApprovals();
    const session = await open(host);
    const waiting = write(host, session, 'allowed-1');
    const { approval_id } = await question(host, session);
    const path = `/v1/sessions/${session.session_id}?mode=cancel`;
    assert.equal((await host.request(path, { token: session.token, method: 'DELETE' })).status, 204);
    assert.equal((await waiting).ok, false);
    const [desk] = DESKS;
    assert.equal(await (await desk?.open(host))?.(approval_id, { answer: 'approved' }), 'unknown_approval');
  });

  test('a call that waits for a person holds no place, and needs none to go on', async () => {
    await using host = await openApprovals({ limits: { maxInFlight: 1 } });
    const session = await open(host);
    const asking = write(host, session, 'allowed-1');
    const { approval_id } = await question(host, session);
    const busy = call(host, session, 'probe_wait', { ms: 60_000 });
    await eventually(() => host.host.status().in_flight === 1, 'a call that takes the only place');
    const [desk] = DESKS;
    assert.equal(await (await desk?.open(host))?.(approval_id, { answer: 'approved' }), 'answered');
    assert.equal(outcomeOf(await asking), 'ok');
    // A third one waits for the place, and its cancel need not.
    const third = call(host, session, 'file_read', { path: 'hello.txt' });
    await eventually(() => host.host.status().queued === 1, 'a call in line');
    const cancel = (request_id: string) =>
      host.request('/v1/call', {
        token: session.token,
        body: { type: 'CancelRequest', session_id: session.session_id, request_id, timestamp: 1 },
      });
    await cancel(`r${requests}`);
    assert.equal(outcomeOf(await third), 'cancelled');
    await cancel(`r${requests - 1}`);
    assert.equal(outcomeOf(await busy), 'cancelled');
    assert.equal(host.host.status().in_flight, 0);
  });

  test('malformed answers and answers that were not offered are refused', async () => {
    await using host = await openApprovals();
    const session = await open(host);
    const waiting = write(host, session, 'allowed-1');
    const { approval_id } = await question(host, session);
    const path = `/v1/approvals/${approval_id}`;
    for (const body of [{}, { answer: 'yes' }, { answer: 'approved', extra: 1 }, { answer: 'approved', args: [] }]) {
      const answer = await host.request(path, { token: TOKENS.approver, body });
      assert.deepEqual([answer.status, reasonOf(await answer.json())], [400, 'invalid_fields']);
    }
    const answer = await host.request(path, { token: TOKENS.approver, body: { answer: 'approved' } });
    assert.deepEqual([answer.status, await answer.json()], [200, { approval_id, answer: 'approved', by: 'approver' }]);
    assert.equal(outcomeOf(await waiting), 'ok');
  });
});
