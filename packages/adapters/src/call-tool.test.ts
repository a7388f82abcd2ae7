import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FORBIDDEN_WRITE, openGovernedSession, REFUSAL_WORDS } from '../test/governed-session.ts';
import { callTool, lowerCall } from './call-tool.ts';

test('a good call answers with data for programs and bounded text for the model', async () => {
  const { session, workspace, dispose } = await openGovernedSession();
  writeFileSync(join(workspace, 'src/long.txt'), 'yyyyyyyyy\n'.repeat(20_000));
  const call = { name: 'file_read', args: { path: 'src/long.txt' } };
  const answer = await callTool(session, call);
  assert.equal(answer.ok, true);
  assert.equal((answer.structured as { content: string }).content.length, 200_000);
  assert.match(answer.text, /^src\/long.txt: 20000 lines, 200000 bytes, sha256 \w{64}\nyyyyyyyyy\n/);
  assert.match(
    answer.text,
    /\n\[cut: lines 1 to \d+ of 20000 shown, .* Rest: file_read \{"path":"src\/long.txt","offset":\d+\}\]$/,
  );
  const short = await callTool(session, { ...call, maxTextBytes: 2000 });
  assert.match(short.text, /\[cut: .*limit 2000 bytes/);
  assert.ok(Buffer.byteLength(answer.text) <= 100_000 && Buffer.byteLength(short.text) <= 2000);
  await dispose();
});

test('a denied call is a readable refusal, and nothing ran', async () => {
  const { session, workspace, deeds, calls, dispose } = await openGovernedSession();
  const answer = await callTool(session, { name: 'file_write', args: FORBIDDEN_WRITE, callId: 'call_9' });
  assert.deepEqual([answer.ok, answer.structured, answer.error?.code], [false, null, 'E_POLICY']);
  for (const words of REFUSAL_WORDS) assert.match(answer.text, words);
  assert.deepEqual(deeds(), []);
  assert.ok(calls().some((record) => record.kind === 'requested' && record.request_id === 'call_9'));
  assert.equal(existsSync(join(workspace, FORBIDDEN_WRITE.path)), false);
  await dispose();
});

test('bad arguments are told by name', async () => {
  const { session, deeds, dispose } = await openGovernedSession();
  const answer = await callTool(session, { name: 'file_read', args: { path: 'src/hello.txt', nope: 1 } });
  assert.match(answer.text, /^Refused \(E_VALIDATION_FAIL\): .*nope/);
  assert.deepEqual(deeds(), []);
  await dispose();
});

test('a repeated id never runs twice: effects are answered from the record, other arguments and reads refused', async () => {
  const { session, workspace, deeds, dispose } = await openGovernedSession();
  const write = (content: string) =>
    callTool(session, { name: 'file_write', args: { path: 'src/log.txt', content, append: true }, callId: 'call_1' });
  const first = await write('once\n');
  assert.deepEqual((await write('once\n')).structured, first.structured);
  assert.match((await write('twice\n')).text, /used with other arguments/);
  assert.equal(readFileSync(join(workspace, 'src/log.txt'), 'utf8'), 'once\n');
  const read = () => callTool(session, { name: 'file_read', args: { path: 'src/log.txt' }, callId: 'call_2' });
  assert.equal((await read()).ok, true);
  assert.match((await read()).text, /Request id was used before/);
  assert.equal(deeds().length, 4);
  await dispose();
});

test('the same id of another run or another session is another call', async () => {
  const { session, runtime, workspace, dispose } = await openGovernedSession();
  const second = await runtime.openSession();
  const call = { name: 'file_write', args: { path: 'src/log.txt', content: 'x', append: true }, callId: 'call_0' };
  for (const [on, runId] of [
    [session, 'a'],
    [session, 'b'],
    [second, 'a'],
  ] as const) {
    assert.equal((await callTool(on, { ...call, runId })).ok, true);
  }
  assert.equal(readFileSync(join(workspace, 'src/log.txt'), 'utf8'), 'xxx');
  await dispose();
});

test('an empty id counts as none', async () => {
  const { session, dispose } = await openGovernedSession();
  const call = { name: 'file_read', args: { path: 'src/hello.txt' }, callId: '' };
  assert.deepEqual([(await callTool(session, call)).ok, (await callTool(session, call)).ok], [true, true]);
  await dispose();
});

test('an aborted call and a closed session answer in words instead of throwing', async () => {
  const { session, deeds, dispose } = await openGovernedSession();
  const call = { name: 'file_read', args: { path: 'src/hello.txt' } };
  const aborted = await callTool(session, { ...call, signal: AbortSignal.abort() });
  assert.deepEqual([aborted.ok, aborted.error?.code], [false, 'E_INTERNAL']);
  await session.close();
  assert.match((await callTool(session, call)).text, /Session is closed[\s\S]*open a new session/);
  assert.ok(deeds().every((record) => record.kind !== 'result' || record.status === 'cancelled'));
  await dispose();
});

test("a provider's call is lowered without its raw arguments and with both keys unset [S1-20]", () => {
  const args = { path: 'secret/place.txt', content: 'hush' };
  const lowered = lowerCall({ name: 'file_write', args, callId: 'call_1', provider: 'openai' });
  assert.deepEqual(lowered, {
    tool_call_id: 'call_1',
    canonical_tool_name: 'file_write',
    source: { kind: 'external_runtime', id: 'openai', trust: 'external', privacy: 'internal' },
    requested_args_refs: [{ id: 'call_1' }],
    redacted_args_summary: 'arguments: path, content',
  });
});

test('an id that cannot be recorded stands as its digest, the same one each time', () => {
  const lower = (callId: string) => lowerCall({ name: 'grep', args: {}, callId, provider: 'x' }).tool_call_id;
  for (const id of ['i'.repeat(513), 'a\u0000b', '\ud800']) {
    assert.match(lower(id), /^sha256:[0-9a-f]{64}$/);
    assert.equal(lower(id), lower(id));
  }
  assert.equal(lower('i'.repeat(512)), 'i'.repeat(512));
});

test('a recorded run answers the model with the same texts, without a machine', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tool-runtime-adapter-tape-'));
  const answers = async (mode: 'record' | 'replay') => {
    const governed = await openGovernedSession({ cassette: { mode, file: join(folder, 'tape.jsonl') } });
    const { session, dispose } = governed;
    const texts: string[] = [];
    for (const call of [
      { name: 'file_read', args: { path: 'src/hello.txt' } },
      { name: 'file_write', args: { path: 'src/new.txt', content: 'new\n' } },
      { name: 'file_write', args: FORBIDDEN_WRITE },
    ]) {
      texts.push((await callTool(session, call)).text);
    }
    const deeds = governed.deeds().length;
    await dispose();
    return { texts, deeds };
  };
  const recorded = await answers('record');
  const replayed = await answers('replay');
  rmSync(folder, { recursive: true });
  assert.deepEqual(replayed.texts, recorded.texts);
  assert.deepEqual([recorded.deeds > 0, replayed.deeds], [true, 0]);
});
