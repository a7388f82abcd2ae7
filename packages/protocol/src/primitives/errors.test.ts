import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { describeError, ERROR_CODES, ToolError, withClass } from './errors.ts';

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

test('every error on the wire says of which kind it is and whether a repetition can help [S1-45]', () => {
  for (const code of ERROR_CODES) {
    const { kind, retry } = new ToolError(code, 'x').toEntry().details ?? {};
    assert.ok(typeof kind === 'string' && typeof retry === 'string', code);
  }
});

test('what an error says of itself stays, and a cancellation is recognised by its reason [S1-45]', () => {
  assert.deepEqual(withClass('E_HTTP', { retry: 'repair_needed', host: 'a' }), {
    host: 'a',
    kind: 'tool_failure',
    retry: 'repair_needed',
  });
  assert.deepEqual(withClass('E_INTERNAL', { reason: 'cancelled' }), {
    reason: 'cancelled',
    kind: 'cancellation',
    retry: 'retryable',
  });
  const complete = { kind: 'a', retry: 'b' };
  assert.equal(withClass('E_INTERNAL', complete), complete);
});

test('an error says what, where, which rule, and what to do', () => {
  const details = { rule: 'secrets.scan', registry: 'tool-runtime.yaml:3', next: 'remove it', line: 7, gate: 'rule' };
  assert.equal(
    describeError({ code: 'E_VALIDATION_FAIL', message: 'A token', path: 'src/a.ts', details }),
    'E_VALIDATION_FAIL: A token\nat: src/a.ts:7\nrule: secrets.scan\ndecided by: tool-runtime.yaml:3\nnext: remove it',
  );
});

test('an error without details is one line', () => {
  assert.equal(describeError({ code: 'E_INTERNAL', message: 'Broken', path: 'args' }), 'E_INTERNAL: Broken');
});
