import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import type { JsonObject } from '@tool-runtime/protocol';
import { createRuntime } from '@tool-runtime/sdk';
import { createScratch, jsonLines, runCli, type Scratch, startCli } from '../../../../test/run-cli.ts';

function tree(scratch: Scratch, ...args: string[]) {
  return runCli(['audit', 'tree', ...args, ...scratch.options]);
}

interface Member {
  readonly session_id: string;
  readonly state: string;
  readonly events: readonly { readonly event: string; readonly details: JsonObject }[];
  readonly children: readonly Member[];
}

async function families(scratch: Scratch): Promise<readonly Member[]> {
  return jsonLines((await tree(scratch, '--json')).stdout) as unknown as readonly Member[];
}

async function fillJournal({ workspace, state }: Scratch) {
  const runtime = await createRuntime({ workspace, state });
  const session = await runtime.openSession({ actor: 'lead' });
  const child = await session.openChild({ agentId: 'reviewer', tools: ['file_read'] });
  await child.call('file_read', { path: 'a' });
  await child.call('file_write', { path: 'b', content: 'x' });
  await child.complete();
  const alone = await runtime.openSession({ actor: 'alone' });
  await runtime.close();
  return { parent: session.id, child: child.id, alone: alone.id, manifest: child.manifest };
}

describe('tool-runtime audit tree', () => {
  test('prints every family, and one session when it is asked for [S3-49] (deep)', async () => {
    using scratch = createScratch();
    scratch.write('a', 'text');
    const { child, alone } = await fillJournal(scratch);
    const { code, stdout } = await tree(scratch);
    const lines = stdout.trimEnd().split('\n');
    assert.deepEqual([code, lines.length], [0, 2]);
    assert.match(lines[0] ?? '', /^lead sess-\w{8} {2}started .*, closed .* {2}0 calls, 0 refused$/);
    assert.match(
      lines[1] ?? '',
      /^ {2}reviewer sess-\w{8} {2}started .*, completed .* {2}custom_allowlist \(1 kept, \d+ stripped\) {2}depth 1 of 8 {2}handoff none {2}2 calls, 1 refused$/,
    );
    const one = await tree(scratch, child.slice(0, 13));
    assert.deepEqual(one.stdout.trimEnd(), lines[1]?.trimStart());
    assert.match((await tree(scratch, alone)).stdout, /^alone /);
  });

  test('--json has everything, the manifest included [S3-49]', async () => {
    using scratch = createScratch();
    const { parent, child, manifest } = await fillJournal(scratch);
    const [family] = await families(scratch);
    const reviewer = family?.children[0];
    assert.deepEqual([family?.session_id, reviewer?.session_id], [parent, child]);
    const started = reviewer?.events.find(({ event }) => event === 'started');
    assert.deepEqual(started?.details['manifest'], JSON.parse(JSON.stringify(manifest)));
  });

  test('says so when there is nothing, no session with that id, or more than one', async () => {
    using scratch = createScratch();
    await (await createRuntime({ workspace: scratch.workspace, state: scratch.state })).close();
    assert.equal((await tree(scratch)).stdout, 'no session had children\n');
    const missing = await tree(scratch, 'sess-nobody');
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /No such session: sess-nobody/);
    await fillJournal(scratch);
    const several = await tree(scratch, 'sess-');
    assert.equal(several.code, 2);
    assert.match(several.stderr, /More than one session id begins with/);
  });

  test('names a family that was lost with its process, and one that still runs as open [S3-49] (deep)', async () => {
    using scratch = createScratch();
    const host = startCli(['stdio', ...scratch.options]);
    const lines = createInterface({ input: host.stdout })[Symbol.asyncIterator]();
    const next = async (): Promise<JsonObject> => JSON.parse(String((await lines.next()).value)) as JsonObject;
    const { session_id } = await next();
    const say = (message: object): void => void host.stdin.write(`${JSON.stringify(message)}\n`);
    say({ type: 'ChildOpen', request_id: 'r1', session_id: String(session_id), agent_id: 'doomed' });
    assert.equal((await next())['type'], 'ChildAck');
    assert.match((await tree(scratch)).stdout, /, open .*\n {2}doomed .*, open /);
    const closed = once(host, 'close');
    host.kill('SIGKILL');
    await closed;
    assert.match((await tree(scratch)).stdout, /, lost with its process .*\n {2}doomed .*, lost with its process /);
    const [family] = await families(scratch);
    assert.deepEqual([family?.state, family?.children[0]?.state], ['lost', 'lost']);
  });
});
