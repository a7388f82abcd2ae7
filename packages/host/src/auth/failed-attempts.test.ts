import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import type { Log } from '../ops/log.ts';
import { ATTEMPT_WINDOW_MS, addressSource, createFailedAttempts, MAX_LINES, MAX_SOURCES } from './failed-attempts.ts';

interface Line {
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

function scene(limit = 3) {
  const lines: Line[] = [];
  const write = (event: string, fields = {}): void => void lines.push({ event, fields });
  const log: Log = { debug: write, info: write, warn: write, error: write, dropped: 0 };
  const clock = { time: 1_000_000 };
  const attempts = createFailedAttempts({ log, limit, now: () => clock.time });
  return {
    attempts,
    lines,
    clock,
    fail(source: string, reason = 'token_invalid'): ToolError {
      try {
        attempts.judge(source, () => {
          throw new ToolError('E_POLICY', 'no', { details: { reason } });
        });
      } catch (thrown) {
        assert.ok(isToolError(thrown));
        return thrown;
      }
      assert.fail('let in');
    },
  };
}

const reasons = (errors: readonly ToolError[]): readonly unknown[] => errors.map(({ details }) => details['reason']);

describe('failed attempts', () => {
  test('are refused for their own reason up to the limit, and for the limit from then on', () => {
    const { fail, attempts } = scene();
    const errors = Array.from({ length: 5 }, () => fail('1.2.3.4'));
    assert.deepEqual(reasons(errors), [...new Array(3).fill('token_invalid'), 'auth_limited', 'auth_limited']);
    assert.deepEqual(errors.at(-1)?.details, {
      gate: 'auth',
      reason: 'auth_limited',
      because: 'token_invalid',
      retry_after_ms: ATTEMPT_WINDOW_MS,
      next: 'use a valid token, which is accepted at any time; without one, wait',
    });
    assert.deepEqual(attempts.figures(), { failures: { token_invalid: 5 }, limited: 2, sources: 1 });
  });

  test('of one source leave other sources and right credentials alone', () => {
    const { fail, attempts } = scene();
    for (let count = 0; count < 10; count++) fail('1.2.3.4');
    assert.equal(fail('1.2.3.5').details['reason'], 'token_invalid');
    assert.equal(
      attempts.judge('1.2.3.4', () => 'welcome'),
      'welcome',
    );
  });

  test('are forgiven after a minute, and told as a sum', () => {
    const { fail, lines, clock } = scene();
    for (let count = 0; count < 10; count++, clock.time += 1000) fail('1.2.3.4');
    clock.time += ATTEMPT_WINDOW_MS;
    assert.equal(fail('1.2.3.4').details['reason'], 'token_invalid');
    assert.deepEqual(lines, [
      { event: 'auth_failed', fields: { source: '1.2.3.4', reason: 'token_invalid' } },
      { event: 'auth_limited', fields: { source: '1.2.3.4', failures: 4 } },
      {
        event: 'auth_failures',
        fields: {
          source: '1.2.3.4',
          failures: 10,
          first: '1970-01-01T00:16:40.000Z',
          last: '1970-01-01T00:16:49.000Z',
        },
      },
      { event: 'auth_failed', fields: { source: '1.2.3.4', reason: 'token_invalid' } },
    ]);
  });

  test('are told as a sum when the host closes, and none is told twice', () => {
    const { fail, lines, attempts } = scene();
    fail('1.2.3.4');
    fail('1.2.3.4');
    attempts.close();
    attempts.close();
    assert.deepEqual(
      lines.map(({ event }) => event),
      ['auth_failed', 'auth_failures'],
    );
  });

  test('of 100,000 sources take bounded memory and bounded lines, and are limited together', () => {
    const { fail, lines, attempts, clock } = scene();
    for (let count = 0; count < 100_000; count++) fail(`source ${count}`);
    assert.equal(attempts.figures().sources, MAX_SOURCES + 1);
    assert.equal(attempts.figures().failures['token_invalid'], 100_000);
    assert.equal(attempts.figures().limited, 100_000 - MAX_SOURCES - 3);
    assert.equal(lines.length, MAX_LINES);
    clock.time += ATTEMPT_WINDOW_MS;
    assert.equal(fail('late').details['reason'], 'token_invalid');
    assert.equal(attempts.figures().sources, 1);
    assert.ok(lines.some(({ event }) => event === 'auth_log_cut'));
    assert.ok(lines.length <= 2 * MAX_LINES + 1);
  });

  test('keep their bounds for any sequence of sources and times', () => {
    const step = fc.tuple(fc.nat({ max: 3000 }), fc.integer({ min: -90_000, max: 90_000 }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const { fail, attempts, clock } = scene();
        for (const [source, pause] of steps) {
          clock.time += pause;
          fail(`s${source}`);
          assert.ok(attempts.figures().sources <= MAX_SOURCES + 1);
        }
        assert.equal(attempts.figures().failures['token_invalid'] ?? 0, steps.length);
      }),
    );
  });

  test('errors that are no refusals are passed on and not counted', () => {
    const { attempts } = scene();
    assert.throws(
      () =>
        attempts.judge('s', () => {
          throw new TypeError('broken');
        }),
      TypeError,
    );
    assert.deepEqual(attempts.figures(), { failures: {}, limited: 0, sources: 0 });
  });
});

test('the source of an address is the address, or the network of an IPv6 address', () => {
  const table: readonly (readonly [string | undefined, string])[] = [
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::1', '::1'],
    ['::', '::'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [undefined, 'unknown'],
  ];
  for (const [address, source] of table) assert.equal(addressSource(address), source);
});
