import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createRuntime } from '@tool-runtime/sdk';
import { createScratch, runCli, type Scratch } from '../../../../test/run-cli.ts';

interface Made {
  readonly callId: string;
  readonly sessionId: string;
}

/** A command with an artifact and a refused read. */
async function makeCalls({ workspace, state }: Scratch): Promise<Made> {
  writeFileSync(
    join(workspace, 'tool-runtime.yaml'),
    'version: 1\nshell_allow: ["^seq "]\napprovals: { auto_approve: ["*"] }\n',
  );
  const registry = join(workspace, 'tool-runtime.yaml');
  const runtime = await createRuntime({ workspace, state, registry });
  const session = await runtime.openSession({ actor: 'anna' });
  assert.ok((await session.call('shell_exec', { cmd: 'seq 1 20000' })).ok);
  await session.call('file_read', { path: '../outside.txt' });
  const requested = [...runtime.records({ kind: 'requested' })].find(
    (record) => record.kind === 'requested' && record.tool === 'shell_exec',
  );
  await runtime.close();
  assert.ok(requested?.kind === 'requested');
  return { callId: requested.call_id, sessionId: session.id };
}

function rewrite(file: string, change: (content: { bundle: Record<string, unknown> }) => void): string {
  const content = JSON.parse(gunzipSync(readFileSync(file)).toString()) as { bundle: Record<string, unknown> };
  change(content);
  const changed = `${file}-changed`;
  writeFileSync(changed, gzipSync(JSON.stringify(content)));
  return changed;
}

describe('tool-runtime audit bundle and open (deep)', () => {
  test('a call is packed with its artifact and registry, and opened where nothing else of it exists', async () => {
    using scratch = createScratch();
    const { callId } = await makeCalls(scratch);
    const registry = ['--registry', join(scratch.workspace, 'tool-runtime.yaml')];
    const file = join(scratch.root, 'call.bundle');
    const packed = await runCli(['audit', 'bundle', callId, '--out', file, ...registry, '--json', ...scratch.options]);
    assert.equal(packed.code, 0, packed.stderr);
    const { signed_by: key } = JSON.parse(packed.stdout) as { signed_by: string };
    renameSync(scratch.state, `${scratch.state}-gone`);
    const opened = await runCli(['audit', 'open', file, '--key', key]);
    assert.equal(opened.code, 0, opened.stderr);
    assert.match(opened.stdout, new RegExp(`^ok call ${callId}, 4 records, 1 artifacts`));
    assert.match(opened.stdout, /shell_exec/);
    assert.match(opened.stdout, /as the session ran under it:\n {2}version: 1/);
    const whole = JSON.parse((await runCli(['audit', 'open', file, '--json'])).stdout);
    const lines = Buffer.from(whole.artifacts[0].content, 'base64').toString().trim().split('\n');
    assert.deepEqual([lines.length, lines.at(-1)], [20_000, '20000']);
  });

  test('a file that is missing, a folder or there already is named, with what to do and no stack', async () => {
    using scratch = createScratch();
    const { callId } = await makeCalls(scratch);
    const pack = ['audit', 'bundle', callId, ...scratch.options, '--out'];
    const file = join(scratch.root, 'taken.bundle');
    assert.equal((await runCli([...pack, file])).code, 0);
    for (const [args, reason] of [
      [['audit', 'open', join(scratch.root, 'gone')], 'ENOENT'],
      [['audit', 'open', scratch.root], 'EISDIR'],
      [[...pack, join(scratch.root, 'gone/x')], 'ENOENT'],
      [[...pack, file], 'EEXIST'],
    ] as const) {
      const { code, stderr } = await runCli([...args]);
      assert.deepEqual([code, stderr.includes(reason), /next: /.test(stderr)], [1, true, true], stderr);
      assert.doesNotMatch(stderr, /\n\s+at /);
    }
  });

  test('a session is packed with its refusals; a changed bundle and another key are refused', async () => {
    using scratch = createScratch();
    const { sessionId } = await makeCalls(scratch);
    const file = join(scratch.root, 'session.bundle');
    assert.equal((await runCli(['audit', 'bundle', sessionId, '--out', file, ...scratch.options])).code, 0);
    const opened = await runCli(['audit', 'open', file]);
    assert.equal(opened.code, 0);
    assert.match(opened.stdout, /sec\.paths\.sandbox/);
    const forged = rewrite(file, ({ bundle }) => {
      bundle['made_at'] = '2020-01-01T00:00:00.000Z';
    });
    const refused = await runCli(['audit', 'open', forged]);
    assert.deepEqual([refused.code, /changed after it was signed/.test(refused.stderr)], [1, true]);
    const other = await runCli(['audit', 'open', file, '--key', '0'.repeat(64)]);
    assert.deepEqual([other.code, /signed by another key/.test(other.stderr)], [1, true]);
    writeFileSync(forged, 'nothing');
    assert.match((await runCli(['audit', 'open', forged])).stderr, /not an audit bundle/);
    const again = await runCli(['audit', 'bundle', sessionId, '--out', file, ...scratch.options]);
    assert.notEqual(again.code, 0, 'an existing file is not replaced');
  });

  test('an unknown id writes nothing', async () => {
    using scratch = createScratch();
    await makeCalls(scratch);
    const file = join(scratch.root, 'none.bundle');
    const { code, stderr } = await runCli(['audit', 'bundle', 'no-such-call', '--out', file, ...scratch.options]);
    assert.equal(code, 1);
    assert.match(stderr, /No such call or session: no-such-call/);
    assert.equal(existsSync(file), false);
  });
});
