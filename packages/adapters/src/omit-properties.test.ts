import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openGovernedSession } from '../test/governed-session.ts';
import { listTools } from './list-tools.ts';
import { omitProperties } from './omit-properties.ts';

test('takes optional arguments out of a copy', async () => {
  const { session, dispose } = await openGovernedSession();
  const [tool] = listTools(session, { names: ['git_blame'] });
  assert.ok(tool);
  const trimmed = omitProperties(tool, ['rev', 'end_line']);
  assert.deepEqual(Object.keys(trimmed.inputSchema['properties'] as object), ['path', 'start_line']);
  assert.ok('rev' in (tool.inputSchema['properties'] as object));
  assert.equal(omitProperties(tool, []), tool);
  await dispose();
});
