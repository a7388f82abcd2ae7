import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ToolRequest } from '@tool-runtime/protocol';
import { createCounter, nothing, wait } from '../testing/probe-tools.ts';
import { openScratchRuntime } from '../testing/scratch-runtime.ts';

function request(sessionId: string, extra: Partial<ToolRequest> = {}): ToolRequest {
  return {
    type: 'ToolRequest',
    tool: 'probe_nothing',
    args: {},
    request_id: 'r1',
    session_id: sessionId,
    timestamp: 1_730_822_400,
    ...extra,
  };
}

describe('a session', () => {
  test('4.6 answers each request once and refuses a reused request id unless its key makes it a replay [S0-10]', async () => {
    const { session, dispose } = await openScratchRuntime({ tools: [nothing] });
    assert.equal((await session.handle(request(session.id))).type, 'ToolResponse');
    const reused = await session.handle(request(session.id));
    assert.equal(reused.type === 'ErrorMessage' && reused.details?.['reason'], 'request_id_reused');
    const keyed = request(session.id, { request_id: 'r2', idempotency_key: 'k' });
    assert.equal((await session.handle(keyed)).type, 'ToolResponse');
    assert.equal((await session.handle(keyed)).type, 'ToolResponse');
    await dispose();
  });

  test('4.3 refuses a request for another session and any request after it closed, with an ErrorMessage', async () => {
    const { session, dispose } = await openScratchRuntime({ tools: [nothing] });
    const wrong = await session.handle(request('sess-other'));
    assert.deepEqual([wrong.type, wrong.type === 'ErrorMessage' && wrong.code], ['ErrorMessage', 'E_POLICY']);
    await session.close();
    const late = await session.handle(request(session.id));
    assert.equal(late.type === 'ErrorMessage' && late.details?.['reason'], 'session_closed');
    await assert.rejects(session.call('probe_nothing', {}), { code: 'E_POLICY' });
    await dispose();
  });

  test('calls in a row leave timers and other clients their turns, however many sessions make them', async (t) => {
    const { session, runtime, dispose } = await openScratchRuntime({ tools: [nothing] });
    t.after(dispose);
    const sessions = [session, ...(await Promise.all(Array.from({ length: 7 }, () => runtime.openSession())))];
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    for (let at = 0; at < 400; at++) {
      const tool = at % 2 === 0 ? 'probe_nothing' : 'no_such_tool';
      await sessions[at % sessions.length]?.call(tool, {});
    }
    isOver = true;
    assert.ok(turns >= 20, `${turns} turns of the event loop during 400 calls`);
  });

  test('expires when heartbeats stay out, and lives on while they come [S0-7]', async () => {
    let now = 0;
    const clock = { now: () => 1_000 + now, monotonic: () => now };
    const { session, runtime, dispose } = await openScratchRuntime(
      { tools: [nothing], ports: { clock } },
      { heartbeatTimeoutMs: 100 },
    );
    now = 90;
    session.heartbeat();
    now = 180;
    assert.equal((await session.call('probe_nothing', {})).ok, true);
    now = 300;
    await assert.rejects(session.call('probe_nothing', {}), { code: 'E_POLICY', message: 'Session is expired' });
    assert.throws(() => session.heartbeat(), { code: 'E_POLICY' });
    const events = [...runtime.records({ kind: 'session' })].map((record) => record.kind === 'session' && record.event);
    assert.deepEqual(events, ['opened', 'expired']);
    await dispose();
  });

  test('lists every usable tool with its contract, and says why others are hidden [S0-59 S0-60]', async () => {
    const { session, dispose } = await openScratchRuntime({
      tools: [nothing],
      registry: { file: 'r.yaml', text: 'version: 1\ntools:\n  file_write: { enabled: false }\n' },
    });
    const read = session.tools().find((tool) => tool.name === 'file_read');
    assert.equal(read?.category, 'fs');
    assert.equal(read?.timeoutMs, 10_000);
    assert.ok(
      read &&
        JSON.stringify(read.argsSchema).includes('max_bytes') &&
        JSON.stringify(read.dataSchema).includes('sha256'),
    );
    assert.deepEqual(
      session.hidden().find((tool) => tool.name === 'file_write'),
      { name: 'file_write', reason: 'Tool is switched off in the registry: file_write', registry: 'r.yaml:3' },
    );
    const refused = await session.call('file_write', { path: 'a', content: '' });
    assert.equal(refused.errors[0]?.details?.['registry'], 'r.yaml:3');
    await dispose();
  });

  test('a tool that the registry keeps out by a setting of its own is hidden with the line, and shown without it [S0-59]', async () => {
    for (const [allowed, isHidden] of [
      ['false', true],
      ['true', false],
    ] as const) {
      const { session, dispose } = await openScratchRuntime({
        registry: { file: 'r.yaml', text: `version: 1\nside_effect_level: network\ngit: { allow_push: ${allowed} }\n` },
      });
      assert.equal(
        session.hidden().some(({ name }) => name === 'git_push'),
        isHidden,
      );
      assert.equal(session.tools('git_push').length, isHidden ? 0 : 1);
      await dispose();
    }
  });

  test('a session whose policy and tools contradict each other does not open, its twin does [S2-25]', async () => {
    const constrained = (pattern: string) => ({
      registry: {
        file: 's.yaml',
        text: `version: 1\narg_constraints: [{ tool: probe_nothing, ${pattern} arg_patterns: ["a"] }]\n`,
      },
    });
    const { runtime, dispose } = await openScratchRuntime({ tools: [nothing] });
    await assert.rejects(runtime.openSession(constrained('')), {
      code: 'E_VALIDATION_FAIL',
      message: /^Tools and policy do not fit: /,
    });
    await runtime.openSession(constrained('arg_key: text,'));
    await dispose();
  });

  test('a call may carry both keys, and each must be well formed [S1-43]', async () => {
    const { session, dispose } = await openScratchRuntime({ tools: [nothing] });
    const keys = { idempotencyKey: 'a', dedupeKey: 'b' };
    assert.equal((await session.call('probe_nothing', {}, keys)).ok, true);
    const blank = session.call('probe_nothing', {}, { idempotencyKey: 'a', dedupeKey: '' });
    await assert.rejects(blank, { code: 'E_VALIDATION_FAIL', path: 'dedupe_key' });
    await dispose();
  });

  test('a ceiling can only narrow: asking for more than the registry gives is an error [S2-24]', async () => {
    const { runtime, dispose } = await openScratchRuntime({ tools: [nothing] });
    const narrow = await runtime.openSession({ capabilities: { side_effect_level: 'read_only' } });
    assert.ok(narrow.hidden().some((tool) => tool.name === 'file_write'));
    const none = await runtime.openSession({ capabilities: { tools: [] } });
    assert.deepEqual(none.tools(), []);
    const listed = await openScratchRuntime({
      registry: { file: 'r.yaml', text: 'version: 1\nallowed_tools: [file_read]\n' },
    });
    await assert.rejects(listed.runtime.openSession({ capabilities: { tools: ['file_write'] } }), { code: 'E_POLICY' });
    await listed.dispose();
    await dispose();
  });

  test('a session registry narrows the host; widening is refused with its line [S0-23]', async () => {
    const { runtime, dispose } = await openScratchRuntime();
    const registry = { file: 's.yaml', text: 'version: 1\nside_effect_level: read_only\n' };
    const session = await runtime.openSession({ registry });
    assert.ok(session.hidden().some((tool) => tool.name === 'file_write'));
    const wider = { file: 's.yaml', text: 'version: 1\nnetwork:\n  allowed_domains: [example.org]\n' };
    await assert.rejects(runtime.openSession({ registry: wider }), { code: 'E_POLICY', message: /s\.yaml:3/ });
    await dispose();
  });

  test('limits.max_in_flight holds: further calls wait their turn and all are answered', async () => {
    const { session, dispose } = await openScratchRuntime({
      tools: [wait],
      registry: { file: 'r.yaml', text: 'version: 1\nlimits: { max_in_flight: 2 }\n' },
    });
    let inFlight = 0;
    let most = 0;
    session.listen(({ message }) => {
      if (message.progress.message === 'execute') most = Math.max(most, ++inFlight);
      if (message.progress.message === 'completed') inFlight--;
    });
    const responses = await Promise.all(Array.from({ length: 7 }, () => session.call('probe_wait', { ms: 5 })));
    assert.ok(responses.every((response) => response.ok));
    assert.equal(most, 2);
    await dispose();
  });

  test('batch overlaps reads, keeps a write apart, and answers in request order [S1-32]', async () => {
    const counter = createCounter();
    const { session, workspace, dispose } = await openScratchRuntime({ tools: [counter.tool] });
    for (const name of ['a', 'b']) writeFileSync(join(workspace, name), name);
    const responses = await session.batch(
      [
        { tool: 'file_read', args: { path: 'a' } },
        { tool: 'file_write', args: { path: 'a', content: 'new' } },
        { tool: 'file_read', args: { file: 'a' } },
        { tool: 'file_read', args: { path: 'b' } },
      ],
      { strategy: { type: 'bounded_concurrent', max_in_flight: 4 } },
    );
    assert.deepEqual(
      responses.map((response) => (response.data as { content?: string } | null)?.content),
      ['a', undefined, 'new', 'b'],
    );
    await assert.rejects(session.batch([], { strategy: { type: 'ordered_batch', max_in_flight: 0 } }));
    await dispose();
  });

  test('two sessions with different policies live side by side', async () => {
    const { runtime, session, dispose } = await openScratchRuntime();
    const reader = await runtime.openSession({ capabilities: { side_effect_level: 'read_only' } });
    const args = { path: 'x', content: 'x' };
    const [mine, theirs] = await Promise.all([session.call('file_write', args), reader.call('file_write', args)]);
    assert.deepEqual([mine.ok, theirs.ok], [true, false]);
    await dispose();
  });
});
