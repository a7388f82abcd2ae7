import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ManualTimers } from '../../test/scratch-servers.ts';
import { matchesLine, Readiness, type ReadyStrategy } from './ready-strategy.ts';

function open(strategy: ReadyStrategy) {
  const timers = new ManualTimers();
  return { timers, readiness: new Readiness(strategy, timers) };
}

const log = (readiness: Readiness, message: string) => readiness.notice('window/logMessage', { type: 3, message });

describe('a server counts as ready', () => {
  test('immediate: at once', () => {
    assert.equal(open({ kind: 'immediate' }).readiness.isReady, true);
  });

  test('log-match: when a line fits, and again after files came or went', () => {
    const { timers, readiness } = open({ kind: 'log-match', lines: ['Found * source file*'], rescanMs: 3_000 });
    readiness.fileSetChanged();
    timers.pass(10_000);
    assert.equal(readiness.isReady, false, 'before the first look no time makes it ready');
    log(readiness, 'Searching for source files');
    assert.equal(readiness.isReady, false);
    log(readiness, 'Found 12 source files');
    assert.equal(readiness.isReady, true);
    readiness.fileSetChanged();
    assert.equal(readiness.isReady, false);
    log(readiness, 'Found 13 source files');
    assert.equal(readiness.isReady, true);
    readiness.fileSetChanged();
    timers.pass(2_999);
    assert.equal(readiness.isReady, false);
    timers.pass(1);
    assert.equal(readiness.isReady, true, 'a server that does not care about the file logs nothing');
  });

  test('progress-idle: when all announced work ended and nothing new began', () => {
    const { timers, readiness } = open({ kind: 'progress-idle', quietMs: 300, graceMs: 5_000 });
    timers.pass(60_000);
    assert.equal(readiness.isReady, false, 'nothing happens before a document is open');
    readiness.documentOpened();
    timers.pass(4_000);
    readiness.progress('a', { kind: 'begin' });
    readiness.progress(2, { kind: 'begin' });
    timers.pass(60_000);
    readiness.progress('a', { kind: 'end' });
    timers.pass(1_000);
    assert.equal(readiness.isReady, false);
    readiness.progress(2, { kind: 'report' });
    readiness.progress(2, { kind: 'end' });
    timers.pass(299);
    assert.equal(readiness.isReady, false);
    timers.pass(1);
    assert.equal(readiness.isReady, true);
    readiness.progress('reload', { kind: 'begin' });
    assert.equal(readiness.isReady, false);
    readiness.progress('reload', { kind: 'end' });
    timers.pass(300);
    assert.equal(readiness.isReady, true);
  });

  test('progress-idle: after the grace, when a server announces nothing', () => {
    const { timers, readiness } = open({ kind: 'progress-idle', quietMs: 300, graceMs: 5_000 });
    readiness.documentOpened();
    timers.pass(4_999);
    assert.equal(readiness.isReady, false);
    timers.pass(1);
    assert.equal(readiness.isReady, true);
  });

  test('status-quiescent: as the server says, with its health', async () => {
    const { readiness } = open({ kind: 'status-quiescent' });
    const status = (params: unknown) => readiness.notice('experimental/serverStatus', params);
    status({ quiescent: false, health: 'ok' });
    assert.equal(readiness.isReady, false);
    status({ quiescent: true, health: 'warning', message: 'no sources of the standard library' });
    await readiness.whenReady();
    assert.deepEqual(readiness.health, { level: 'warning', message: 'no sources of the standard library' });
    status({ quiescent: false, health: 'ok' });
    assert.equal(readiness.isReady, false);
    status(null);
    status({ quiescent: 'yes' });
    assert.equal(readiness.isReady, false);
  });
});

test('a line pattern matches what the same expression matches', () => {
  const piece = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
  const line = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 });
  fc.assert(
    fc.property(piece, line, (pattern, text) => {
      const expression = new RegExp(`^${pattern.replaceAll('*', '.*')}$`);
      assert.equal(matchesLine(pattern, text), expression.test(text));
    }),
  );
});
