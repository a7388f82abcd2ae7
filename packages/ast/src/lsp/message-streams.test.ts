import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import {
  FrameGuard,
  MAX_BACKLOG_BYTES,
  MAX_BACKLOG_MESSAGES,
  MAX_BODY_BYTES,
  MAX_HEADER_BYTES,
  MessageBacklog,
} from './message-streams.ts';

function frame(body: Buffer, extra = ''): Buffer {
  return Buffer.concat([Buffer.from(`${extra}Content-Length: ${body.length}\r\n\r\n`), body]);
}

const isMalformed = (thrown: unknown) => isToolError(thrown) && thrown.details['reason'] === 'malformed_frame';

describe('the frame guard', () => {
  test('accepts frames however they are cut, whatever bytes the bodies hold', () => {
    const bodies = fc.array(fc.uint8Array({ maxLength: 60 }), { minLength: 1, maxLength: 6 });
    const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
    fc.assert(
      fc.property(bodies, cuts, fc.boolean(), (parts, sizes, withType) => {
        const extra = withType ? 'Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n' : '';
        const bytes = Buffer.concat(parts.map((part) => frame(Buffer.from(part), extra)));
        const guard = new FrameGuard();
        let at = 0;
        for (let turn = 0; at < bytes.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          guard.accept(bytes.subarray(at, at + size));
          at += size;
        }
        // In step at the end: the next header is read as one.
        guard.accept(frame(Buffer.from('{}')));
        assert.throws(() => guard.accept(Buffer.from('no header\n')), isMalformed);
      }),
    );
  });

  const garbage: readonly [string, string][] = [
    ['a banner', 'Starting server…\n'],
    ['a banner before a header', 'Debugger listening\r\nContent-Length: 2\r\n\r\n{}'],
    ['bare line feeds', 'Content-Length: 2\n\n{}'],
    ['no length', 'Content-Type: x\r\n\r\n{}'],
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
    ['a negative length', 'Content-Length: -2\r\n\r\n{}'],
    ['a length that is no number', 'Content-Length: 0x10\r\n\r\n{}'],
    ['a length in exponents', 'Content-Length: 1e3\r\n\r\n{}'],
    ['a body without header', '{"jsonrpc":"2.0"}'],
    ['an empty header', '\r\n\r\n'],
    ['a body over the limit', `Content-Length: ${MAX_BODY_BYTES + 1}\r\n\r\n`],
    ['a header over the limit', `Content-Type: ${'x'.repeat(MAX_HEADER_BYTES)}`],
  ];
  for (const [name, text] of garbage) {
    test(`refuses ${name}`, () => {
      assert.throws(() => new FrameGuard().accept(Buffer.from(text)), isMalformed);
      const guard = new FrameGuard();
      assert.throws(() => {
        for (const byte of Buffer.from(text)) guard.accept(Uint8Array.of(byte));
      }, isMalformed);
    });
  }

  test('accepts a header and a body at their limits', () => {
    const guard = new FrameGuard();
    const rest = `Content-Length: ${MAX_BODY_BYTES}\r\n\r\n`;
    const filling = 'x'.repeat(MAX_HEADER_BYTES - rest.length - 'X: \r\n'.length);
    guard.accept(Buffer.from(`X: ${filling}\r\n${rest}`));
    const piece = Buffer.alloc(MAX_BODY_BYTES / 4);
    for (let turn = 0; turn < 4; turn++) guard.accept(piece);
    guard.accept(frame(Buffer.from('{}')));
  });
});

const isTooMuch = (thrown: unknown) => isToolError(thrown) && thrown.details['reason'] === 'malformed_frame';

test('a server may say any amount as long as it is listened to, and not too much at once', () => {
  const backlog = new MessageBacklog();
  for (let turn = 0; turn < 10; turn++) {
    backlog.arrive(MAX_BACKLOG_BYTES, 1);
    backlog.handled();
  }
  backlog.arrive(1, MAX_BACKLOG_MESSAGES);
  assert.throws(() => backlog.arrive(1, 1), isTooMuch);
  const other = new MessageBacklog();
  other.arrive(MAX_BACKLOG_BYTES, 2);
  other.handled();
  assert.throws(() => other.arrive(1, 0), isTooMuch);
});
