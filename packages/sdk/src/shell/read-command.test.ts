import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCommand } from './read-command.ts';

test('a line and a list of words give the same command, anything else is refused', () => {
  assert.deepEqual(readCommand("echo 'a b'"), readCommand(['echo', 'a b']));
  for (const value of [7, null, ['a', 1], {}, true]) {
    assert.throws(() => readCommand(value as never), { code: 'E_VALIDATION_FAIL' });
  }
});
