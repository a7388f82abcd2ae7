import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type EventMessage, parseServerMessage } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { createEventBus, plainMessage } from './event-bus.ts';

function progress(message: string, event = 'TaskProgress'): EventMessage {
  return { type: 'EventMessage', event, request_id: 'r', progress: { pct: 1, message } };
}

describe('an event bus', () => {
  test('a listener gets the events of its session in order', async () => {
    const bus = createEventBus();
    const mine = bus.subscribe({ sessionId: 'a' });
    bus.emit('a', progress('1'));
    bus.emit('b', progress('other'));
    bus.emit('a', progress('2'));
    bus.close();
    const seen: string[] = [];
    for await (const event of mine) seen.push(event.message.progress.message);
    assert.deepEqual(seen, ['1', '2']);
  });

  test('the message of every event is plain text, whichever event it is; its data is as it was', () => {
    const bus = createEventBus();
    const seen: EventMessage[] = [];
    bus.listen('a', ({ message }) => void seen.push(message));
    const data = { chunk: '\u001b[31mred' };
    for (const event of ['TaskProgress', 'RuleViolation', 'ChildEvent', 'CallStatusChanged', 'Metrics']) {
      bus.emit('a', { ...progress('\u001b[31mred\r\n\u202ebidi', event), data });
    }
    assert.equal(seen.length, 5);
    for (const message of seen) {
      assert.deepEqual([message.progress.message, message.data], ['red \\u{202e}bidi', data]);
    }
  });

  test('a slow listener loses the oldest events and is told how many, in a message its own schema accepts', async () => {
    for (const filter of [{}, { sessionId: 'a' }]) {
      const bus = createEventBus({ capacity: 3 });
      const slow = bus.subscribe(filter);
      for (let n = 1; n <= 5; n++) bus.emit('a', progress(String(n)));
      const first = await slow.next();
      assert.equal(first.value.message.event, 'EventsMissed');
      assert.deepEqual(first.value.message.data, { missed: 2 });
      assert.equal(first.value.message.request_id, filter.sessionId ?? 'host');
      assert.equal(parseServerMessage(JSON.stringify(first.value.message)).ok, true);
      const second = await slow.next();
      assert.deepEqual([second.value.message.progress.message, second.value.id], ['3', first.value.id + 1]);
    }
  });

  test('leaving the loop unsubscribes, so that no further event arrives', async () => {
    const bus = createEventBus();
    assert.equal(bus.hears('a', 'progress'), false);
    const events = bus.subscribe();
    assert.deepEqual([bus.hears('a', 'progress'), bus.hears('a', 'all')], [true, true]);
    bus.emit('a', progress('1'));
    for await (const _event of events) break;
    assert.deepEqual([bus.hears('a', 'progress'), bus.hears('a', 'all')], [false, false]);
  });

  test('waiting readers are woken by the next events and by the end', async () => {
    const bus = createEventBus();
    const events = bus.subscribe();
    const waiting = [events.next(), events.next(), events.next()];
    bus.emit('a', progress('late'));
    bus.emit('a', progress('later'));
    bus.close();
    const results = await Promise.all(waiting);
    assert.deepEqual(
      results.map((result) => (result.done ? 'end' : result.value.message.progress.message)),
      ['late', 'later', 'end'],
    );
  });

  test('a direct listener hears events at once until it stops, and stopping twice removes no other listener', () => {
    const bus = createEventBus();
    const heard: string[] = [];
    const stop = bus.listen('a', (event) => heard.push(event.message.progress.message));
    bus.emit('a', progress('1'));
    stop();
    bus.emit('a', progress('2'));
    assert.deepEqual(heard, ['1']);
    bus.listen('a', () => {});
    stop();
    assert.equal(bus.hears('a', 'all'), true);
  });

  test('changes of status reach only those who asked for all; everything else reaches both', () => {
    const bus = createEventBus();
    const heard = { few: [] as string[], all: [] as string[] };
    bus.listen('a', ({ message }) => heard.few.push(message.event), { events: 'progress' });
    assert.deepEqual(
      [bus.hears('a', 'progress'), bus.hears('a', 'all'), bus.hears('b', 'progress')],
      [true, false, false],
    );
    const stop = bus.listen('a', ({ message }) => heard.all.push(message.event), { events: 'all' });
    assert.equal(bus.hears('a', 'all'), true);
    for (const event of ['TaskProgress', 'CallStatusChanged', 'RuleViolation']) bus.emit('a', progress('', event));
    assert.deepEqual(heard, {
      few: ['TaskProgress', 'RuleViolation'],
      all: ['TaskProgress', 'CallStatusChanged', 'RuleViolation'],
    });
    stop();
    assert.deepEqual([bus.hears('a', 'progress'), bus.hears('a', 'all')], [true, false]);
  });

  test('a subscriber may ask for less too', async () => {
    const bus = createEventBus();
    const events = bus.subscribe({ events: 'progress' });
    assert.equal(bus.hears('a', 'all'), false);
    bus.emit('a', progress('status', 'CallStatusChanged'));
    bus.emit('a', progress('news'));
    assert.equal((await events.next()).value.message.progress.message, 'news');
  });
});

const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

test('a message loses colours and line breaks, and what is left is made safe', () => {
  const table: readonly (readonly [string, string])[] = [
    ['plain words, ünï – 漢字 🎉', 'plain words, ünï – 漢字 🎉'],
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u009b1;31mred', 'red'],
    ['\u001b]0;title\u0007text', 'text'],
    ['\u001b]8;;http://x\u001b\\link', 'link'],
    ['one\r\ntwo\tthree', 'one two three'],
    ['over\rwritten', 'over written'],
    ['\u202egpj.exe', '\\u{202e}gpj.exe'],
    ['bell\u0007 NUL\0', 'bell\\u{7} NUL\\u{0}'],
    ['half \ud800 pair', 'half \\u{d800} pair'],
  ];
  for (const [text, plain] of table) assert.equal(plainMessage(text), plain);
});

test('no text keeps an unsafe character, and plain text is not changed', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\u001b[', '\u001b]', '\u009b', '\u0007', '\u202e', '\r\n'),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = pieces.join('');
      const plain = plainMessage(text);
      assert.doesNotMatch(plain, UNSAFE);
      assert.equal(plainMessage(plain), plain);
      if (!UNSAFE.test(text)) assert.equal(plain, text);
    }),
    { numRuns: 2000 },
  );
});
