import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SAMPLES } from '../../test/sample-messages.ts';
import type { ErrorMessage } from './from-host/error-message.ts';
import { errorMessageSchema } from './from-host/error-message.ts';
import { parseClientMessage, parseServerMessage } from './parse-envelope.ts';

const request = SAMPLES.ToolRequest;

function errorOf(text: string): ErrorMessage {
  const parsed = parseClientMessage(text);
  assert.ok(!parsed.ok, 'the text was meant to be refused');
  assert.ok(errorMessageSchema.safeParse(parsed.error).success);
  return parsed.error;
}

const CLASS = { kind: 'tool_failure', retry: 'not_retryable' };

describe('parseClientMessage', () => {
  for (const name of ['ToolRequest', 'Heartbeat', 'CancelRequest', 'SessionAttach', 'ApprovalAnswer'] as const) {
    test(`gives back a ${name} as it was sent [S0-2 S0-3 S0-7]`, () => {
      assert.deepEqual(parseClientMessage(JSON.stringify(SAMPLES[name])), { ok: true, message: SAMPLES[name] });
    });
  }

  test('answers a bad field with its path, and addresses the request [S0-3 S0-6]', () => {
    assert.deepEqual(errorOf(JSON.stringify({ ...request, tool: 5, timestamp: '1', extra: true })), {
      type: 'ErrorMessage',
      code: 'E_VALIDATION_FAIL',
      message:
        'Invalid ToolRequest: tool: expected string, got 5; timestamp: expected number, got string; extra: is not a known field',
      request_id: 'request-1',
      details: { reason: 'invalid_fields', path: 'tool', fields: ['tool', 'timestamp', 'extra'], ...CLASS },
    });
  });

  test('names the types it takes when the type is another [S0-6]', () => {
    const { message, request_id } = errorOf(JSON.stringify({ ...request, type: 'ToolResponse' }));
    assert.equal(
      message,
      'Invalid ToolResponse: type: expected one of "ApprovalAnswer"|"BatchRequest"|"CancelRequest"|"ChildEnd"|"ChildOpen"|"Heartbeat"|"SessionAttach"|"ToolRequest", got "ToolResponse"',
    );
    assert.equal(request_id, 'request-1');
    assert.match(errorOf('{}').message, /^Invalid message: type: expected one of .*, got nothing$/);
    assert.equal(errorOf('[]').message, 'Invalid message: expected object, got array');
  });

  test('has no request_id when it is missing, invalid or doubled [S0-6]', () => {
    const { request_id: _id, ...anonymous } = request;
    assert.equal(errorOf(JSON.stringify(anonymous)).request_id, null);
    assert.equal(errorOf(JSON.stringify({ ...request, request_id: 'a\u0000' })).request_id, null);
    assert.equal(errorOf(`${JSON.stringify(request).slice(0, -1)},"request_id":"other"}`).request_id, null);
    assert.equal(errorOf('{"request_id":"request-1"').request_id, null);
  });

  test('answers a text refused by the scan with offset and path, and still addresses the request [S0-6]', () => {
    const text = JSON.stringify(request).replace('"path"', '"path":"a","path"');
    assert.deepEqual(errorOf(text), {
      type: 'ErrorMessage',
      code: 'E_VALIDATION_FAIL',
      message: `Duplicate key in JSON: args.path at offset ${text.lastIndexOf('"path"')}`,
      request_id: 'request-1',
      details: { reason: 'duplicate_key', offset: text.lastIndexOf('"path"'), path: 'args.path', ...CLASS },
    });
  });

  test('addresses the sender of a text somewhat too large, and does not read one far too large [S0-6]', () => {
    const text = JSON.stringify(request);
    const parse = (maxBytes: number) => parseClientMessage(text, { maxBytes });
    const idOf = (maxBytes: number) => {
      const parsed = parse(maxBytes);
      return parsed.ok ? undefined : parsed.error.request_id;
    };
    assert.equal(parse(text.length).ok, true);
    assert.equal(idOf(text.length - 1), 'request-1');
    assert.equal(idOf(10), null);
  });

  test('never throws, whatever the text, and its errors are valid messages of bounded size [S0-9]', () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record(
          { type: fc.constantFrom('ToolRequest', 'Heartbeat', 'x'), request_id: fc.anything(), args: fc.jsonValue() },
          { requiredKeys: [] },
        )
        .map((value) => JSON.stringify(value, (_key, part) => (typeof part === 'bigint' ? String(part) : part)) ?? ''),
    );
    fc.assert(
      fc.property(text, (value) => {
        for (const parsed of [parseClientMessage(value), parseServerMessage(value)]) {
          if (parsed.ok) continue;
          assert.ok(errorMessageSchema.safeParse(parsed.error).success);
          assert.ok(parsed.error.message.length < 3000);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('parseServerMessage', () => {
  for (const name of ['SessionAck', 'EventMessage', 'ToolResponse', 'ErrorMessage', 'Heartbeat'] as const) {
    test(`gives back a ${name} as it was sent [S0-4 S0-5 S0-6 S0-7]`, () => {
      assert.deepEqual(parseServerMessage(JSON.stringify(SAMPLES[name])), { ok: true, message: SAMPLES[name] });
    });
  }

  test('refuses an error code outside the ten [S0-8]', () => {
    const parsed = parseServerMessage(JSON.stringify({ ...SAMPLES.ErrorMessage, code: 'E_OTHER' }));
    assert.ok(!parsed.ok);
    assert.match(parsed.error.message, /^Invalid ErrorMessage: code: expected one of .*, got "E_OTHER"$/);
  });
});
