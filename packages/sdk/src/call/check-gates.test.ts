import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileRead } from '../tools/fs/file-read.ts';
import { fileWrite } from '../tools/fs/file-write.ts';
import { isRepeatable } from './check-gates.ts';
import type { Call } from './state/call-types.ts';

function call(tool: object, mutationClass: string, args: object): Call {
  return { compiled: { tool }, mutationClass, subject: { args } } as unknown as Call;
}

test('a lost write may be made again unless it appended, and a lost read always [S0-31]', () => {
  assert.equal(isRepeatable(call(fileRead, 'read_only', {})), true);
  assert.equal(isRepeatable(call({}, 'read_only', {})), true);
  assert.equal(isRepeatable(call(fileWrite, 'workspace_write', { append: false })), true);
  assert.equal(isRepeatable(call(fileWrite, 'workspace_write', { append: true })), false);
  assert.equal(isRepeatable(call({}, 'workspace_write', {})), false);
});
