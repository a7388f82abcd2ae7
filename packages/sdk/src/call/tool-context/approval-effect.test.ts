/** What the person who is asked is shown, and what their yes covers. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ApprovalReply, ApprovalRequest } from '../../contracts/policy.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';

const REGISTRY = {
  file: 'ops.yaml',
  text: `version: 1
shell: { mode: sandboxed }
network: { allowed_domains: ['127.0.0.1:1'] }
approvals: { require_approval: ['file_*', fs_delete, shell_exec, curl] }
`,
};

async function openScene(
  answer: (request: ApprovalRequest) => ApprovalReply['answer'] | Promise<ApprovalReply['answer']>,
) {
  const asked: ApprovalRequest[] = [];
  const ask = async (request: ApprovalRequest): Promise<ApprovalReply> => {
    asked.push(request);
    return { answer: await answer(request), by: 'ada' };
  };
  const scratch = await openScratchRuntime({ registry: REGISTRY, approvals: { ask } });
  return { ...scratch, asked };
}

test('a question carries the diff of what is written, and nothing is written by asking', async (t) => {
  const { session, workspace, asked, dispose } = await openScene(() => 'denied');
  t.after(dispose);
  writeFileSync(join(workspace, 'a.txt'), 'one\ntwo\n');
  await session.call('file_write', { path: 'a.txt', content: 'one\n2\n' });
  await session.call('file_write', { path: 'new/b.txt', content: 'b\n', create_dirs: true });
  await session.call('file_patch', {
    path: 'a.txt',
    unified_diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n',
  });
  await session.call('fs_delete', { path: 'a.txt' });
  assert.deepEqual(
    asked.map(({ effect }) => effect?.kind),
    ['diff', 'diff', 'diff', 'diff'],
  );
  const [write, created, patch, removed] = asked.map(({ effect }) => effect?.text ?? '');
  assert.match(write ?? '', /^--- a\.txt\n\+\+\+ a\.txt\n[\s\S]*\n one\n-two\n\+2$/m);
  assert.match(created ?? '', /^--- \/dev\/null\n\+\+\+ new\/b\.txt\n[\s\S]*\+b/);
  assert.match(patch ?? '', /-one\n\+1/);
  assert.match(removed ?? '', /^--- a\.txt\n\+\+\+ \/dev\/null\n[\s\S]*-one\n-two/);
  const { data } = await session.call('fs_list', { glob: '**' });
  assert.doesNotMatch(JSON.stringify(data), /new/);
});

test('a yes for the session covers the same command and no other; the record says what it covers', async (t) => {
  const { session, runtime, asked, dispose } = await openScene(() => 'approved_for_session');
  t.after(dispose);
  for (const cmd of ['echo one', 'echo one', 'echo two', 'rm -rf x']) await session.call('shell_exec', { cmd });
  assert.equal(asked.length, 3, 'the same line is not asked twice');
  assert.deepEqual(asked[0]?.effect, { kind: 'command', text: 'folder: .\nline: echo one\narguments: ["echo","one"]' });
  assert.equal(asked[0]?.scope, 'this command again, with exactly these arguments');
  const answers = [...runtime.records()].filter((record) => record.kind === 'approval' && record.phase === 'answered');
  assert.ok(answers.every((record) => record.kind === 'approval' && record.scope === asked[0]?.scope));
});

test('of a request the address is shown, without its secrets, and a yes holds for its origin', async (t) => {
  const { session, asked, dispose } = await openScene(() => 'approved_for_session');
  t.after(dispose);
  for (const path of ['a?token=hunter22hunter22', 'b'])
    await session.call('curl', { url: `http://127.0.0.1:1/${path}` });
  assert.equal(asked.length, 1);
  assert.match(asked[0]?.effect?.text ?? '', /http:\/\/127\.0\.0\.1:1\/a/);
  assert.doesNotMatch(asked[0]?.effect?.text ?? '', /hunter22/);
  assert.match(asked[0]?.scope ?? '', /http:\/\/127\.0\.0\.1:1$/);
});

test('the time a person takes is told apart from the time of the call, in answer, record and figures', async (t) => {
  const { session, runtime, dispose } = await openScene(async () => {
    await new Promise((resolve) => setTimeout(resolve, 60));
    return 'approved' as const;
  });
  t.after(dispose);
  const asked = await session.call('file_write', { path: 'a.txt', content: 'a\n' });
  assert.ok((asked.waited_ms ?? 0) >= 50, JSON.stringify(asked));
  const result = [...runtime.records()].find((record) => record.kind === 'result');
  assert.ok(result?.kind === 'result' && (result.waited_ms ?? 0) >= 50);
  assert.ok(result.end_ts - result.start_ts >= Math.floor(result.duration_ms + (result.waited_ms ?? 0)) - 20);
  const plain = await session.call('fs_list', { glob: '**' });
  assert.equal(plain.waited_ms, undefined);
});
