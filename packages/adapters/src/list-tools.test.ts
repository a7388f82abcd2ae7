import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openGovernedSession } from '../test/governed-session.ts';
import { listTools } from './list-tools.ts';

test('lists what the session offers, with schemas and hints', async () => {
  const { session, dispose } = await openGovernedSession();
  const tools = listTools(session);
  assert.deepEqual(
    tools.map((tool) => tool.name),
    session.tools().map((tool) => tool.name),
  );
  const hints = new Map(tools.map((tool) => [tool.name, tool.annotations]));
  assert.deepEqual(hints.get('file_read'), {
    title: 'Read file',
    kind: 'read',
    sideEffectLevel: 'read_only',
    readOnly: true,
    destructive: false,
    idempotent: true,
    openWorld: false,
  });
  assert.deepEqual([hints.get('fs_delete')?.destructive, hints.get('fs_delete')?.readOnly], [true, false]);
  assert.equal(hints.get('file_write')?.destructive, false);
  await dispose();
});

test('a profile or a list of names narrows it', async () => {
  const { session, dispose } = await openGovernedSession();
  const harmless = listTools(session, { profile: 'read-only' });
  assert.ok(harmless.some((tool) => tool.name === 'grep'));
  assert.ok(harmless.every((tool) => tool.annotations.readOnly));
  const named = listTools(session, { names: ['grep', 'file_read'] }).map((tool) => tool.name);
  assert.deepEqual(named, ['grep', 'file_read']);
  assert.throws(() => listTools(session, { names: ['shell_exec'] }), /does not offer the tool: shell_exec \(.*ceiling/);
  assert.throws(() => listTools(session, { names: ['no_such'] }), /no tool of this name/);
  await dispose();
});
