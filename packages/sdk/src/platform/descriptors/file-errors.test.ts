import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { test } from 'node:test';
import { ToolError } from '@tool-runtime/protocol';
import { ErrnoError, errnoError } from '../errno-error.ts';
import { fileError } from './file-errors.ts';

test('leaving the root is a policy matter with its rule, everything else is file trouble [S0-34]', () => {
  for (const errno of Object.values(constants.errno)) {
    const failed = errnoError(errno);
    const told = fileError(failed, 'some/path');
    const leaves = failed.code === 'EXDEV' || failed.code === 'ELOOP';
    assert.equal(told.code, leaves ? 'E_POLICY' : 'E_FILE_IO', failed.code);
    assert.equal(told.details['rule'], leaves ? 'sec.paths.sandbox' : undefined);
    assert.equal(told.path, 'some/path');
    assert.match(told.message, /: some\/path$/);
    assert.equal(typeof told.details['next'], 'string');
  }
});

test('a ToolError passes unchanged and a stranger is our own fault [S0-34]', () => {
  const known = new ToolError('E_TIMEOUT', 'Too late');
  assert.equal(fileError(known, 'x'), known);
  const stranger = fileError(new TypeError('token=abc'), 'x');
  assert.deepEqual([stranger.code, stranger.message], ['E_INTERNAL', 'The runtime failed unexpectedly']);
});

test('the path in a message is cut and cannot start a new line [S0-34]', () => {
  const { message } = fileError(new ErrnoError('ENOENT'), `a\n${'b'.repeat(1000)}`);
  assert.ok(message.length < 300 && !message.includes('\n'), message);
});
