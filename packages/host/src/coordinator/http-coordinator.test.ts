import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  coordinatorCallSchema,
  coordinatorPlanSchema,
  coordinatorSpendSchema,
  type ToolResponse,
} from '@tool-runtime/protocol';
import type { CoordinatorCall } from '@tool-runtime/sdk';
import { openScratchRuntime } from '@tool-runtime/sdk/testing';
import { type Answer, json, startCoordinator } from '../../test/loopback-coordinator.ts';
import { httpCoordinator } from './http-coordinator.ts';

const allow = { verdict: 'allow', reason: 'fine' };
const never = new AbortController().signal;

const question: CoordinatorCall = {
  callId: 'c1',
  sessionId: 's1',
  requestId: 'r1',
  tool: 'file_write',
  actor: 'ann',
  client: 'suite/1',
  argsHash: 'hmac-sha256:00',
  argsSummary: 'path="a.txt"',
  profile: { kind: 'edit', side_effect_level: 'workspace_write', effect: 'write', risk: 'medium' },
  mutationClass: 'workspace_write',
  paths: ['a.txt'],
};

async function openGoverned(t: TestContext, url: string, registry = '') {
  const coordinator = httpCoordinator({ url, token: 'coordinator-token', timeoutMs: 30_000 });
  const text = `version: 1\n${registry}\n`;
  const scratch = await openScratchRuntime({ coordinator, registry: { file: 'host.yaml', text } });
  t.after(async () => {
    await scratch.dispose();
    await coordinator.close();
  });
  const write = () => scratch.session.call('file_write', { path: 'a.txt', content: 'the content itself' });
  return { ...scratch, coordinator, write, wasWritten: () => existsSync(join(scratch.workspace, 'a.txt')) };
}

const reasonOf = ({ errors }: ToolResponse) => errors[0]?.details?.['reason'];
/** Long where an answer comes, short where none does. */
const PATIENT = 'coordinator:\n  timeout_ms: 30000\n  required: true';
const REQUIRED = 'coordinator:\n  timeout_ms: 300\n  required: true';

const wrong: Readonly<Record<string, Answer>> = {
  'answers garbage': (response) => response.end('<html>log in</html>'),
  'answers nothing': (response) => response.end(),
  'answers another shape': json({ verdict: 'allow', reason: 'x', also: 1 }),
  'answers in two voices': (response) => response.end('{"verdict":"deny","reason":"x","verdict":"allow"}'),
  'answers bytes that are no text': (response) => response.end(Buffer.from([0x22, 0xff, 0x22])),
  'answers with an error': json(allow, 500),
  'does not know the question': json(allow, 404),
  'answers without end': (response) => {
    const piece = `{"verdict":"allow","reason":"fine","message":"${'x'.repeat(60_000)}`;
    const more = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', more);
    more();
  },
  'answers with a small body that unpacks to a large one': (response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    response.end(gzipSync(JSON.stringify({ ...allow, message: ' '.repeat(10_000_000) })));
  },
  'is slow': () => {},
  'is slow after a good beginning': (response) => void response.write('{"verdict":"allow",'),
  'dies in the middle': (response) => {
    response.write('{"verdict":');
    response.socket?.destroy();
  },
  'points elsewhere': (response) => {
    response.writeHead(307, { location: '/hooks/elsewhere' });
    response.end();
  },
};

describe('a call governed over HTTP', () => {
  test('is asked about with the token, in the published form and over kept connections, and reported [S0-75]', async (t) => {
    const remote = await startCoordinator(t, json(allow));
    const { write, coordinator, session } = await openGoverned(t, remote.url, PATIENT);
    assert.equal((await write()).ok, true);
    assert.equal((await session.propose({ steps: [{ tool: 'file_read', args: { path: 'a' } }] })).accepted, true);
    await coordinator.close();
    assert.deepEqual(
      remote.asked.map(({ name, authorization }) => [name, authorization]),
      ['policy', 'budget', 'plan', 'spend'].map((name) => [`/hooks/${name}`, 'Bearer coordinator-token']),
    );
    const [policy, budget, plan, spend] = remote.asked.map(({ body }) => body);
    assert.deepEqual(coordinatorCallSchema.parse(policy), budget);
    assert.equal(coordinatorPlanSchema.parse(plan).steps.length, 1);
    const { spent, dropped } = coordinatorSpendSchema.parse(spend);
    assert.deepEqual([spent.length, spent[0]?.status, dropped], [1, 'completed', 0]);
    assert.doesNotMatch(JSON.stringify(remote.asked), /the content itself/);
    assert.ok(remote.connections < remote.asked.length);
  });

  test('a no refuses before anything runs; the twin after a yes runs [S0-75]', async (t) => {
    const remote = await startCoordinator(t, json({ verdict: 'deny', reason: 'freeze', message: 'not today' }));
    const { write, wasWritten } = await openGoverned(t, remote.url, PATIENT);
    const refused = await write();
    assert.deepEqual([refused.errors[0]?.code, reasonOf(refused), wasWritten()], ['E_POLICY', 'freeze', false]);
    assert.match(refused.errors[0]?.message ?? '', /not today/);
    remote.answer = json(allow);
    assert.deepEqual([(await write()).ok, wasWritten()], [true, true]);
  });

  for (const [what, answer] of Object.entries(wrong)) {
    test(`a coordinator that ${what} has said nothing: refused where required, a warning where not [S0-75]`, async (t) => {
      const remote = await startCoordinator(t, answer);
      const strict = await openGoverned(t, remote.url, REQUIRED);
      const refused = await strict.write();
      assert.deepEqual([reasonOf(refused), strict.wasWritten()], ['coordinator_unreachable', false]);
      assert.equal(refused.errors[0]?.details?.['registry'], 'host.yaml:4');
      assert.ok(!remote.asked.some(({ name }) => name.endsWith('elsewhere')), 'a redirect was followed');
      const lenient = await openGoverned(t, remote.url, 'coordinator: {timeout_ms: 300}');
      const warned = await lenient.write();
      assert.equal(warned.ok, true);
      assert.deepEqual(
        warned.warnings.map(({ code, details }) => [code, details?.['reason'], details?.['question']]),
        [
          ['E_POLICY', 'coordinator_unreachable', 'policy'],
          ['E_POLICY', 'coordinator_unreachable', 'budget'],
        ],
      );
    });
  }

  test('one that dies and comes back is heard again [S0-75]', async (t) => {
    const remote = await startCoordinator(t, json(allow));
    const { write } = await openGoverned(t, remote.url, PATIENT);
    assert.equal((await write()).ok, true);
    await remote.stop();
    assert.equal(reasonOf(await write()), 'coordinator_unreachable');
    await startCoordinator(t, json(allow), remote.port);
    assert.equal((await write()).ok, true);
  });
});

describe('httpCoordinator', () => {
  test('leaves out arguments that are too large to send, and says so [S0-75]', async (t) => {
    const remote = await startCoordinator(t, json(allow));
    const { evaluate, proposePlan } = httpCoordinator({ url: remote.url });
    const args = { content: 'x'.repeat(2_000_000) };
    assert.deepEqual(await evaluate({ ...question, args: { path: 'a' } }, never), allow);
    assert.deepEqual(await evaluate({ ...question, args }, never), allow);
    const step = { ...question, verdict: 'allow', args } as const;
    await proposePlan({ planId: 'p1', sessionId: 's1', actor: 'ann', client: 'c', steps: [step, step] }, never);
    const [small, large, plan] = remote.asked.map(({ body }) => body as Record<string, unknown>);
    assert.deepEqual([small?.['args'], small?.['args_omitted']], [{ path: 'a' }, undefined]);
    assert.deepEqual([large?.['args'], large?.['args_omitted']], [undefined, true]);
    assert.equal(coordinatorPlanSchema.parse(plan).args_omitted, true);
  });

  test('a question that cannot be sent at all is a no, so that size is no way past it [S0-75]', async (t) => {
    const remote = await startCoordinator(t, json(allow));
    const { evaluate, reserve } = httpCoordinator({ url: remote.url });
    const large = {
      ...question,
      paths: Array.from({ length: 40_000 }, (_, index) => `some/long/path/to/file-${index}`),
    };
    for (const ask of [evaluate, reserve]) {
      const verdict = await ask(large, never);
      assert.deepEqual([verdict.verdict, verdict.reason], ['deny', 'question_too_large']);
      assert.deepEqual(await ask(question, never), allow);
    }
    assert.equal(remote.asked.length, 2);
  });

  for (const what of ['answers without end', 'answers with a small body that unpacks to a large one']) {
    test(`reads no more than 64 KiB of one that ${what} [S0-75]`, async (t) => {
      const remote = await startCoordinator(t, wrong[what] ?? json(allow));
      await assert.rejects(async () => httpCoordinator({ url: remote.url }).evaluate(question, never), {
        code: 'E_HTTP',
        message: 'Coordinator answered with more than 65536 bytes: policy',
      });
    });
  }

  test('stops asking when it is told to [S0-75]', async (t) => {
    const stop = new AbortController();
    const remote = await startCoordinator(t, () => stop.abort());
    await assert.rejects(async () => httpCoordinator({ url: remote.url }).evaluate(question, stop.signal), {
      code: 'E_HTTP',
    });
  });

  test('errors never hold the token or what the coordinator wrote [S0-75]', async (t) => {
    const remote = await startCoordinator(t, (response) => response.end('secret words'));
    const { evaluate } = httpCoordinator({ url: remote.url, token: 'coordinator-token' });
    await assert.rejects(
      async () => evaluate(question, never),
      (thrown) => !/secret words|coordinator-token/.test(String(thrown)),
    );
  });

  test('an address or a limit that cannot be used is a mistake of the program; their twins are taken', () => {
    const refused = [
      { url: 'not a url' },
      { url: 'ftp://example.org' },
      { url: 'file:///etc/passwd' },
      { url: 'https://user:password@example.org' },
      { url: 'https://example.org/?token=1' },
      { url: 'https://example.org/#x' },
      { url: 'http://example.org', token: 't' },
      { url: 'http://127.0.0.1.example.org', token: 't' },
      { url: 'https://example.org', timeoutMs: 0 },
      { url: 'https://example.org', timeoutMs: Number.NaN },
    ];
    for (const options of refused) assert.throws(() => httpCoordinator(options), TypeError, JSON.stringify(options));
    const taken = [
      { url: 'https://example.org/hooks', token: 't' },
      { url: 'http://example.org' },
      { url: 'http://127.0.0.1:1', token: 't' },
      { url: 'http://[::1]:1', token: 't' },
      { url: 'http://localhost:1', token: 't', timeoutMs: 1 },
    ];
    for (const options of taken) assert.doesNotThrow(() => httpCoordinator(options), JSON.stringify(options));
  });

  test('uses the fetch it is given', async () => {
    const asked: unknown[] = [];
    const fetch = async (url: string | URL | Request, init?: RequestInit) => {
      asked.push([url, init?.method, init?.redirect]);
      return Response.json(allow);
    };
    assert.deepEqual(await httpCoordinator({ url: 'https://example.org/', fetch }).evaluate(question, never), allow);
    assert.deepEqual(asked, [['https://example.org/policy', 'POST', 'error']]);
  });
});
