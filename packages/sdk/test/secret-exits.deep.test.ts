/**
 * Plants a secret in every place of every tool's arguments, makes the calls for real in every way they can end, and
 * searches all that came out: answers, events, questions, records, errors for the log, and every byte of the state folder.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { JsonObject, ToolResponse } from '@tool-runtime/protocol';
import type { ApprovalRequest } from '../src/contracts/policy.ts';
import type { AnyTool } from '../src/contracts/tool.ts';
import type { CallOptions, Session } from '../src/session/session.ts';
import { openScratchRuntime, type ScratchRuntime } from '../src/testing/scratch-runtime.ts';
import * as catalog from '../src/tools/catalog.ts';
import { Canaries, type Find } from './canaries.ts';
import { type Position, positionsOf, takesSecrets } from './secret-positions.ts';

const tools: readonly AnyTool[] = Object.values(catalog);
const PROGRAMS = ['echo', 'printenv', 'sleep', 'seq', 'cat', 'false'];

interface Scene {
  readonly canaries: Canaries;
  readonly scratch: ScratchRuntime;
  /** Everything that was sent to anyone. */
  readonly heard: unknown[];
  readonly answers: readonly ToolResponse[];
  readonly url: string;
  readonly silentUrl: string;
  call(tool: string, args: JsonObject, options?: CallOptions): Promise<ToolResponse>;
  /** What came out, after everything is closed. */
  finish(): Promise<Find[]>;
}

/** Answers with all it was sent; what is asked of `/silent` is never answered. */
function startEcho() {
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/silent') === true) return;
    const said = JSON.stringify({ url: request.url, headers: request.headers });
    response.setHeader('x-echo', String(request.headers.authorization ?? 'none'));
    response.end(`${said}\n${Buffer.from(said).toString('base64')}`);
  });
  server.listen(0, '127.0.0.1');
  return server;
}

async function openScene(more: readonly string[] = []): Promise<Scene> {
  const canaries = new Canaries();
  const heard: unknown[] = [];
  const server = startEcho();
  await once(server, 'listening');
  server.unref();
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const text = [
    'version: 1',
    `network: {allowed_domains: ['${host}'], insecure_credentials: ['${host}']}`,
    `shell_allow: [${PROGRAMS.map((name) => `'^${name}( |$)'`).join(', ')}]`,
    'limits: {max_jobs: 200, max_workspace_jobs: 200}',
    ...more,
    '',
  ].join('\n');
  const scratch = await openScratchRuntime({
    registry: { file: 'ops.yaml', text },
    onUnexpected: (error) => heard.push([error.toEntry(), String(error.cause), (error.cause as Error)?.stack]),
    telemetry: {
      startCall: (call) => {
        heard.push(call);
        return { stage: (name) => heard.push(name), end: (end) => heard.push(end) };
      },
    },
    approvals: {
      ask: async (request: ApprovalRequest) => {
        heard.push(request);
        return { answer: 'approved', by: 'tester' };
      },
    },
  });
  const { runtime, session, state } = scratch;
  const answers: ToolResponse[] = [];
  let keepsAnswers = false;
  const stop = runtime.events.listen(session.id, (event) => heard.push(event));
  return {
    canaries,
    scratch,
    heard,
    answers,
    url: `http://${host}/`,
    silentUrl: `http://${host}/silent`,
    async call(tool, args, options) {
      const response = await session.call(tool, args, options);
      answers.push(response);
      keepsAnswers ||= options?.idempotencyKey !== undefined;
      return response;
    },
    async finish() {
      stop();
      heard.push([...runtime.records()], runtime.metrics.totals(session.id));
      server.closeAllConnections();
      server.close();
      const found = [
        ...heard.flatMap((said, at) => canaries.find(`heard ${at}`, said)),
        ...answers.flatMap((answer, at) => [
          ...canaries.find(`answer ${at}`, answer, { guesses: false }),
          ...canaries.find(`words of answer ${at}`, wordsOf(answer)),
        ]),
        // The answer of a call with a key is kept as it was given.
        ...canaries.findBelow(state, { guesses: !keepsAnswers }),
      ];
      await scratch.dispose();
      return found;
    },
  };
}

/** What the runtime itself says in an answer: all but the data and what a program printed. */
function wordsOf({ errors, warnings }: ToolResponse): unknown {
  return [...errors, ...warnings].map(({ details, ...entry }) => [entry, { ...details, stdout: '', stderr: '' }]);
}

/** How a call of this tool succeeds, prints what it was given, and is kept waiting. */
interface Ways {
  readonly shown: JsonObject;
  readonly waits: JsonObject;
  readonly refused: JsonObject;
}

function waysOf(position: Position, scene: Scene): Readonly<Record<string, Ways>> {
  const { args } = position;
  const variables = Object.keys((args['env'] ?? {}) as JsonObject);
  const words = (args['argv'] ?? []) as readonly string[];
  const line = args['cmd'] ?? (words.length > 0 ? words.map((word) => `'${word}'`).join(' ') : undefined);
  const printed = line ?? `printenv ${variables.join(' ')}`;
  const { env = {} } = args;
  const url = String(args['url'] ?? scene.url);
  return {
    shell_exec: {
      shown: words.length > 0 ? args : { env, cmd: printed },
      waits: { env, cmd: `${String(printed)}; sleep 600` },
      refused: { env, cmd: `forbidden ${String(printed)}` },
    },
    curl: {
      shown: { url, ...args, as_text: true },
      waits: { ...args, url: url.replace(scene.url, `${scene.silentUrl}/`) },
      refused: { ...args, url: url.replace('127.0.0.1', '127.0.0.2') },
    },
  };
}

/** Also through an encoding of the program's own, which no position of an argument shows. */
const ENDINGS: Readonly<Record<string, (tool: string, ways: Ways, scene: Scene) => Promise<unknown>>> = {
  success: (tool, { shown }, { call }) => call(tool, shown),
  'idempotency key, answered twice': async (tool, { shown }, { call }) => {
    const key = { idempotencyKey: `key-${Math.random()}` };
    await call(tool, shown, key);
    return call(tool, shown, key);
  },
  refusal: (tool, { refused }, { call }) => call(tool, refused),
  'wrong arguments': (tool, { shown }, { call }) => call(tool, { ...shown, no_such_argument: 1 }),
  timeout: (tool, { waits }, { call }) => call(tool, { ...waits, timeout_ms: 1500 }),
  cancel: async (tool, { waits }, { call, scratch }) => {
    const controller = new AbortController();
    const running = call(tool, waits, { signal: controller.signal, requestId: `cancel-${Math.random()}` });
    const started = scratch.runtime.events.subscribe({ sessionId: scratch.session.id });
    for await (const { message } of started) {
      if (message.event === 'TaskProgress' || message.data?.['phase'] === 'execute') break;
    }
    controller.abort();
    return running;
  },
};

async function pollToTheEnd(job: string, { call }: Scene): Promise<void> {
  for (;;) {
    const { data } = await call('job_poll', { job, wait_ms: 60_000 });
    if ((data as { state?: string } | null)?.state !== 'running') return;
  }
}

function report(found: readonly Find[]): string {
  const lines = found.map(({ planted, spelling, at, around }) => `${planted} (${spelling}) at ${at}: ${around}`);
  return `${found.length} finds\n${[...new Set(lines)].slice(0, 20).join('\n')}`;
}

describe('a secret in an argument comes out nowhere', () => {
  const takers = tools.filter(takesSecrets);

  test('every tool that takes secrets is called here', () => {
    const known = Object.keys(waysOf({ name: '', args: {} }, { url: '', silentUrl: '' } as Scene));
    assert.deepEqual(takers.map(({ name }) => name).sort(), known.sort(), 'give new tools their ways above');
  });

  for (const tool of takers) {
    for (const [ending, make] of Object.entries(ENDINGS)) {
      test(`${tool.name}: ${ending}`, async () => {
        const scene = await openScene();
        const positions = positionsOf(tool, { program: ['echo'], url: scene.url }, scene.canaries);
        assert.ok(positions.length > 5);
        await Promise.all(
          positions.map(async (position) => {
            const ways = waysOf(position, scene)[tool.name];
            assert.ok(ways);
            await make(tool.name, ways, scene);
          }),
        );
        if (ending === 'success') assert.ok(scene.answers.some(({ redacted }) => redacted !== undefined));
        const found = await scene.finish();
        assert.deepEqual(found, [], report(found));
      });
    }

    test(`${tool.name}: an approver is asked without them and sees the rest`, async () => {
      const scene = await openScene([`approvals: {require_approval: ['${tool.name}']}`]);
      const positions = positionsOf(tool, { program: ['echo', 'seen'], url: scene.url }, scene.canaries);
      for (const position of positions) {
        const { shown = {} } = waysOf(position, scene)[tool.name] ?? {};
        const response = await scene.call(tool.name, shown);
        // User information in a URL is refused by a rule, before a question is asked.
        if (!position.name.includes('user information')) assert.ok(response.ok, JSON.stringify(response.errors));
      }
      const questions = JSON.stringify(scene.heard.filter((said) => (said as ApprovalRequest).allowedAnswers));
      assert.match(questions, /\[redacted\]/);
      const found = await scene.finish();
      assert.deepEqual(found, [], report(found));
    });
  }
});

describe('a secret of a command comes out nowhere later', () => {
  let scene: Scene;
  let positions: readonly Position[];

  before(async () => {
    scene = await openScene();
    const tool = tools.find(({ name }) => name === 'shell_exec');
    assert.ok(tool);
    positions = positionsOf(tool, { program: ['echo'], url: scene.url }, scene.canaries);
  });
  after(async () => {
    const found = await scene.finish();
    assert.deepEqual(found, [], report(found));
  });

  test('jobs: polled, listed, among the processes, stopped', async () => {
    const started = await Promise.all(
      positions.map(async (position) => {
        const { shown = {} } = waysOf(position, scene)['shell_exec'] ?? {};
        const printed = shown['cmd'] ?? (shown['argv'] as readonly string[]).map((word) => `'${word}'`).join(' ');
        const cmd = `cat && ${String(printed)}`;
        const { data } = await scene.call('shell_exec', { cmd, env: shown['env'] ?? {}, yield_after_ms: 0 });
        return (data as { job: string }).job;
      }),
    );
    await scene.call('job_list', {});
    await scene.call('proc_list', { limit: 10_000 });
    for (const job of started) {
      await scene.call('job_input', { job, text: 'printed next\n', end: true });
      await pollToTheEnd(job, scene);
    }
    await scene.call('job_list', {});
    assert.match(JSON.stringify(scene.answers), /printed next/);
    await scene.call('job_stop', { job: started[0] ?? '' });
  });

  test('output that is kept as an artifact, on the disk and read from it', async () => {
    const canary = scene.canaries.plant('long output');
    const cmd = 'printenv API_TOKEN; seq 800000; printenv API_TOKEN';
    const { data } = await scene.call('shell_exec', { cmd, env: { API_TOKEN: canary } });
    const { stdout_artifact: artifact } = data as { stdout_artifact: string };
    for (const view of [{}, { tail_lines: 5 }]) {
      const page = await scene.call('artifact_read', { artifact, ...view });
      assert.match(JSON.stringify(page.data), /\[redacted\]/);
    }
  });

  test('a job that prints a secret in two pieces', async () => {
    const canary = scene.canaries.plant('two pieces', { plain: true });
    const started = await scene.call('shell_exec', { cmd: 'cat', env: { API_TOKEN: canary }, yield_after_ms: 0 });
    const { job } = started.data as { job: string };
    const printed: string[] = [];
    for (const text of ['before ', canary.slice(0, 12), `${canary.slice(12)} behind`]) {
      await scene.call('job_input', { job, text, end: text.endsWith('behind') });
      const { data } = await scene.call('job_poll', { job, wait_ms: text === 'before ' ? 60_000 : 200 });
      printed.push((data as { stdout: string }).stdout);
    }
    for (let state = 'running'; state === 'running'; ) {
      const { data } = await scene.call('job_poll', { job, wait_ms: 60_000 });
      ({ state } = data as { state: string });
      printed.push((data as { stdout: string }).stdout);
    }
    assert.equal(printed.join(''), 'before [redacted] behind');
  });

  test('what is too short to be looked for is hidden where it stands', async () => {
    const line = 'echo curl -u me:pw9 --token zz7';
    const shown = 'echo curl -u me:[redacted] --token [redacted]';
    await scene.call('shell_exec', { cmd: line });
    const { data } = await scene.call('shell_exec', { cmd: `${line}; sleep 600`, yield_after_ms: 0 });
    const { job } = data as { job: string };
    const listed = (await scene.call('job_list', {})).data as { jobs: readonly { job: string; command: string }[] };
    assert.equal(listed.jobs.find((other) => other.job === job)?.command, `${shown}; sleep 600`);
    const refused = await scene.call('shell_exec', { cmd: `forbidden ${line}` });
    assert.match(refused.errors[0]?.message ?? '', /forbidden echo curl -u me:\[redacted\] --token \[redacted\]/);
    const said = JSON.stringify([[...scene.scratch.runtime.records()], refused]);
    assert.ok(said.includes(JSON.stringify(`cmd="${shown}"`).slice(1, -2)), said.slice(-2000));
    assert.ok(!/pw9|zz7/.test(said));
    await scene.call('job_stop', { job });
  });

  test('what one call was given, in everything another call says', async () => {
    const canary = scene.canaries.plant('an earlier call', { plain: true });
    await scene.call('shell_exec', { cmd: 'false', env: { API_TOKEN: canary } });
    await scene.call('shell_exec', { cmd: `echo ${canary}` });
    await scene.call('shell_exec', { cmd: `forbidden ${canary}` });
    await scene.call('grep', { pattern: canary, path: `no/such/${canary}` });
    await scene.call(`no_such_tool_${'x'.repeat(3)}`, { anything: canary });
    await scene.call('job_poll', { job: canary });
    // Records name the files that changed.
    await scene.call('file_write', { path: `named-${canary}.txt`, content: 'x' });
  });
});

test('arguments an approver edits keep the secrets that were not shown, and none is run with the cover in it', async () => {
  const edits: ((args: JsonObject) => JsonObject)[] = [
    (args) => ({ ...args, timeout_ms: 50_000 }),
    (args) => ({ ...args, argv: [...(args['argv'] as string[]).slice(0, 3), 'other:[redacted]'] }),
  ];
  const scratch = await openScratchRuntime({
    registry: { file: 'ops.yaml', text: "shell_allow: ['^echo( |$)']\napprovals: {require_approval: [shell_exec]}\n" },
    approvals: {
      async ask({ call }: ApprovalRequest) {
        const edit = edits.shift();
        return { answer: 'approved', by: 'tester', ...(edit === undefined ? {} : { args: edit(call.args) }) };
      },
    },
  });
  const { session } = scratch;
  const argv = ['echo', 'curl', '-u', 'me:pw9'];
  const kept = await session.call('shell_exec', { argv });
  // The edited call is asked about again, and that edit cannot be put together.
  assert.equal(kept.errors[0]?.details?.['reason'], 'approval.covered_secret');
  edits.push((args) => ({ ...args, timeout_ms: 50_000 }));
  const run = await session.call('shell_exec', { argv });
  assert.equal((run.data as { stdout: string }).stdout, 'curl -u me:pw9\n', JSON.stringify(run.errors));
  await scratch.dispose();
});

describe('what is no secret passes unchanged', () => {
  const show = async (session: Session, args: JsonObject) =>
    (await session.call('shell_exec', args)).data as { stdout: string; stdout_artifact?: string };

  test('output, artifacts, words of commands and folders that shells name', async () => {
    const scene = await openScene();
    const { session } = scene.scratch;
    const env = { API_TOKEN: 'a-secret-of-this-session' };
    assert.equal((await show(session, { cmd: 'seq 5', env })).stdout, '1\n2\n3\n4\n5\n');
    assert.match((await show(session, { cmd: 'printenv PWD', env })).stdout, /^\/.*workspace\n$|^\//);
    assert.equal((await show(session, { cmd: 'echo PWD=/srv OLDPWD=/ x', env })).stdout, 'PWD=/srv OLDPWD=/ x\n');
    assert.equal((await show(session, { cmd: 'echo --token undefined-value1' })).stdout, '--token undefined-value1\n');
    assert.equal((await show(session, { cmd: 'echo undefined-value1' })).stdout, 'undefined-value1\n');
    assert.equal((await show(session, { cmd: 'echo postgres', env: { PGPASSWORD: 'postgres' } })).stdout, 'postgres\n');
    const long = await show(session, { cmd: 'seq 1000000', env });
    const tail = await session.call('artifact_read', { artifact: long.stdout_artifact ?? '', tail_lines: 1 });
    assert.equal((tail.data as { content: string; total_bytes: number }).total_bytes, 6_888_896);
    await scene.finish();
  });
});
