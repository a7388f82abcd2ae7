import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { JsonObject } from '@tool-runtime/protocol';
import { openSealedArgs, type SealedArgsOptions, type SealingSession } from './sealed-args.ts';

const root = mkdtempSync(join(tmpdir(), 'tool-runtime-sealed-'));
after(() => rmSync(root, { recursive: true, force: true }));

const DAY_MS = 24 * 60 * 60 * 1000;
const NOON = Date.parse('2026-11-18T12:00:00Z');
const NO_SECRETS: SealingSession['redactor'] = {
  known: { isEmpty: true, json: (args) => args },
  redactText: (text) => text,
};
const OPEN: SealingSession = { isNarrowed: false, redactor: NO_SECRETS };

function scene(given: Partial<SealedArgsOptions> = {}) {
  const state = given.state ?? mkdtempSync(join(root, 'state-'));
  let now = NOON;
  const key = Buffer.alloc(32, 7);
  const clock = { now: () => now };
  const sealed = openSealedArgs({ key, clock, isKeeping: true, maxBytes: 100, report: assert.fail, ...given, state });
  const folder = join(state, 'sealed-args');
  return {
    sealed,
    state,
    keep: (callId: string, args: JsonObject, session = OPEN) =>
      sealed.forSession(session).keep({ callId, tool: 'probe', args }),
    later: (ms: number) => {
      now += ms;
    },
    files: () => readdirSync(folder).map((name) => join(folder, name)),
    read: (since?: number) => [...sealed.read(since)].map(({ callId, args, notKept }) => [callId, args ?? notKept]),
  };
}

describe('sealed arguments', () => {
  test('are read back, and no word of them is on the disk in clear', () => {
    const { keep, files, read, sealed } = scene();
    keep('one', { path: 'src/plain-words.ts' });
    keep('two', { nested: [{ text: 'äß€' }] });
    sealed.flush();
    const [file = ''] = files();
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.ok(!readFileSync(file).includes('plain-words') && !readFileSync(file).includes('probe'));
    assert.deepEqual(read(), [
      ['one', { path: 'src/plain-words.ts' }],
      ['two', { nested: [{ text: 'äß€' }] }],
    ]);
  });

  test('two processes share the file of a day', () => {
    const first = scene();
    const second = scene({ state: first.state });
    first.keep('one', {});
    first.sealed.flush();
    second.keep('two', {});
    second.sealed.flush();
    assert.equal(first.files().length, 1);
    assert.deepEqual(first.read(), second.read());
    assert.equal(first.read().length, 2);
  });

  test('are not kept when they hold a known secret, look like one, or are too large; that is on record', () => {
    const { keep, read, files } = scene();
    const known = { isEmpty: false, json: (args: JsonObject) => (args['value'] === 'hunter2' ? {} : args) };
    keep('known', { value: 'hunter2' }, { ...OPEN, redactor: { ...NO_SECRETS, known } });
    const redactText = (text: string): string => text.replace('ghp_token', '[redacted]');
    keep('looks', { value: 'ghp_token' }, { ...OPEN, redactor: { ...NO_SECRETS, redactText } });
    keep('large', { value: 'x'.repeat(101) });
    keep('deep', { a: [{ b: 'x'.repeat(60) }, { b: 'x'.repeat(60) }] });
    keep('plain', { value: 'x'.repeat(50) });
    assert.deepEqual(read(), [
      ['known', 'secret'],
      ['looks', 'secret'],
      ['large', 'too_large'],
      ['deep', 'too_large'],
      ['plain', { value: 'x'.repeat(50) }],
    ]);
    for (const file of files()) assert.ok(!readFileSync(file).includes('hunter2'));
  });

  test('with keep: false nothing is written, and what is there is still read', () => {
    const first = scene();
    first.keep('one', {});
    first.sealed.flush();
    const { keep, read, sealed } = scene({ state: first.state, isKeeping: false });
    keep('two', {});
    sealed.close();
    assert.deepEqual(read(), [['one', {}]]);
  });

  test('many calls in one turn of the event loop are written without waiting for the timer', () => {
    const { keep, files, state } = scene();
    keep('first', {});
    assert.deepEqual(readdirSync(state), []);
    for (let at = 0; at < 300; at++) keep(`call-${at}`, {});
    assert.equal(files().length, 1);
  });

  test('another key opens none of them', () => {
    const first = scene();
    first.keep('one', {});
    first.sealed.flush();
    assert.deepEqual(scene({ state: first.state, key: Buffer.alloc(32, 8) }).read(), []);
  });

  test('an altered or torn frame is left out, and those behind it are read', () => {
    const { keep, read, sealed, files } = scene();
    for (const id of ['one', 'two', 'three']) {
      keep(id, { path: id });
      sealed.flush();
    }
    const [file = ''] = files();
    const bytes = readFileSync(file);
    const second = bytes.indexOf('TRSEAL1\n', 8);
    const altered = Buffer.from(bytes);
    altered[second + 30] = (altered[second + 30] ?? 0) ^ 1;
    writeFileSync(file, altered);
    assert.deepEqual(read(), [
      ['one', { path: 'one' }],
      ['three', { path: 'three' }],
    ]);
    writeFileSync(
      file,
      Buffer.concat([bytes.subarray(0, second + 20), bytes.subarray(bytes.lastIndexOf('TRSEAL1\n'))]),
    );
    assert.deepEqual(
      read().map(([id]) => id),
      ['one', 'three'],
    );
  });

  test('prune deletes days that ended before, and since skips them', () => {
    const { keep, read, sealed, later, files } = scene();
    keep('old', {});
    sealed.flush();
    later(3 * DAY_MS);
    keep('new', {});
    sealed.flush();
    assert.deepEqual(read(NOON + 2 * DAY_MS), [['new', {}]]);
    assert.equal(read(NOON).length, 2);
    sealed.prune(NOON);
    assert.equal(files().length, 2);
    sealed.prune(NOON + DAY_MS);
    assert.deepEqual(read(), [['new', {}]]);
  });

  test('a file that others can read is refused and reported, and the call goes on', () => {
    const reported: unknown[] = [];
    const { keep, sealed, files } = scene({ report: (thrown) => reported.push(thrown) });
    keep('one', {});
    sealed.flush();
    chmodSync(files()[0] ?? '', 0o644);
    keep('two', {});
    sealed.flush();
    assert.match(String(reported[0]), /open to others/);
  });

  test('much that waits is written at once', () => {
    const { keep, files } = scene({ maxBytes: 2 * 1024 * 1024 });
    keep('one', { value: 'x'.repeat(1024 * 1024) });
    assert.equal(files().length, 1);
  });
});
