import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ToolError } from './errors.ts';

const UNSAFE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

test('whatever a message quotes, it cannot steer a terminal or hide text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (quoted) => {
      const { message } = new ToolError('E_FILE_IO', `No such file: ${quoted}`);
      assert.ok(!UNSAFE.test(message) && message.startsWith('No such file: '), message);
    }),
  );
  assert.equal(new ToolError('E_GIT', 'No branch: a\u001b[2J\u202eb').message, 'No branch: a\\u{1b}[2J\\u{202e}b');
});

test('messages are bounded and may have several lines', () => {
  assert.equal(new ToolError('E_GIT', 'x'.repeat(100_000)).message.length, 4096);
  assert.equal(new ToolError('E_GIT', 'one\n\ttwo').message, 'one\n\ttwo');
});
