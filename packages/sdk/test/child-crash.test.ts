/** A family whose process is killed: the next one finds every child that had not ended, once, and nothing else. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createRuntime } from '../src/index.ts';

const CHILD = new URL('./child-crash-child.ts', import.meta.url).pathname;

test('finding 7: children lost with their process are found by the next one, and ended ones are not [S3-49]', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-family-'));
  const places = { workspace: join(scratch, 'workspace'), state: join(scratch, 'state') };
  mkdirSync(places.workspace);
  const run = spawnSync(process.execPath, ['-C', 'tool-runtime-source', CHILD, places.workspace, places.state], {
    encoding: 'utf8',
  });
  assert.deepEqual([run.signal, run.stderr], ['SIGKILL', '']);
  const runtime = await createRuntime(places);
  const started = [...runtime.records({ kind: 'child' })].flatMap((record) =>
    record.kind === 'child' && record.event === 'started'
      ? [[record.details['agent_id'], record.child_session_id]]
      : [],
  );
  assert.deepEqual(
    started.map(([agent]) => agent),
    ['over', 'child', 'grandchild'],
  );
  const lost = runtime.unfinished.map(({ callId, classification }) => [callId, classification]);
  const expected = started.slice(1).map(([, id]) => [`child.${id}`, 'retry_safe']);
  assert.deepEqual(lost, expected);
  assert.equal(runtime.verify().ok, true);
  const session = await runtime.openSession();
  const answer = await session.call('file_write', { path: 'a.txt', content: 'x' });
  assert.equal(answer.ok, true, 'a lost child blocks nothing');
  await runtime.close();
  const again = await createRuntime(places);
  assert.deepEqual(again.unfinished, []);
  await again.close();
  rmSync(scratch, { recursive: true, force: true });
});
