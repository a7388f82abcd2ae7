import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { AnswerStore, EventLog } from './kept-messages.ts';

const event = (id: number) => ({ id, event: 'TaskProgress', requestId: 'r', text: `${id}` });

test('answers with what came after an id, and says whether something between is gone', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 50 }),
      fc.integer({ min: 0, max: 10 }),
      fc.nat({ max: 120 }),
      (steps, size, after) => {
        const log = new EventLog(size);
        const ids: number[] = [];
        for (const step of steps) ids.push((ids.at(-1) ?? 0) + step);
        for (const id of ids) log.append(event(id));
        const kept = ids.slice(Math.max(0, ids.length - size));
        const wanted = ids.filter((id) => id > after);
        const answer = log.after(after);
        assert.deepEqual(
          answer.events.map(({ id }) => id),
          kept.filter((id) => id > after),
        );
        assert.equal(
          answer.isComplete,
          wanted.every((id) => kept.includes(id)),
        );
        assert.equal(log.lastId, ids.at(-1) ?? 0);
      },
    ),
  );
});

test('an event that is no longer kept is let go at once', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const log = new EventLog(4);
  const appended = Array.from({ length: 8 }, (_, at) => {
    const event = { id: at + 1, event: 'x', requestId: 'r', text: `event ${at + 1}` };
    log.append(event);
    return new WeakRef(event);
  });
  return new Promise<void>((resolve, reject) => {
    // A reference that was made or read in this turn is kept until its end.
    setImmediate(() => {
      collect();
      try {
        assert.deepEqual(
          appended.map((ref) => ref.deref()?.id),
          [undefined, undefined, undefined, undefined, 5, 6, 7, 8],
        );
        assert.equal(log.after(0).events.length, 4);
        resolve();
      } catch (thrown) {
        reject(thrown);
      }
    });
  });
});

const MEGABYTE = 1024 * 1024;

test('keeps the newest answers that fit, whatever came before', () => {
  const answer = fc.record({ id: fc.integer({ min: 0, max: 9 }), text: fc.string({ maxLength: 30 }) });
  fc.assert(
    fc.property(fc.array(answer, { maxLength: 60 }), (answers) => {
      const store = new AnswerStore(50);
      for (const { id, text } of answers) store.keep('s', `${id}`, text);
      const fitting = new Map<string, string>();
      let size = 0;
      for (const { id, text } of answers.toReversed()) {
        size += text.length;
        if (size > 50) break;
        if (!fitting.has(`${id}`)) fitting.set(`${id}`, text);
      }
      for (let id = 0; id < 10; id++) assert.equal(store.find('s', `${id}`), fitting.get(`${id}`));
    }),
  );
});

test('an answer larger than everything is not kept, and the next one is', () => {
  const store = new AnswerStore(10);
  store.keep('s', 'large', 'x'.repeat(11));
  assert.equal(store.find('s', 'large'), undefined);
  store.keep('s', 'small', 'x');
  assert.equal(store.find('s', 'small'), 'x');
  assert.equal(store.find('other', 'small'), undefined);
});

test('stays small over many answers', () => {
  const store = new AnswerStore(1000);
  for (let index = 0; index < 10_000; index++) store.keep('s', `${index}`, 'x'.repeat(10));
  assert.equal(store.find('s', '9999'), 'x'.repeat(10));
  assert.equal(store.find('s', '9900'), 'x'.repeat(10));
  assert.equal(store.find('s', '9899'), undefined);
});

test('frees what it drops at once', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heldBytes = (): number => {
    // What was found dead is given back by the next one.
    collect();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const store = new AnswerStore(2 * MEGABYTE);
  const before = heldBytes();
  // Through JSON, because a repeated string is only written down when a flat string is needed.
  for (let index = 0; index < 100; index++) store.keep('s', `${index}`, JSON.stringify('x'.repeat(MEGABYTE)));
  const held = heldBytes() - before;
  assert.ok(held < 20 * MEGABYTE, `${held} bytes for an answer of one megabyte`);
  assert.equal(store.find('s', '99')?.length, MEGABYTE + 2);
});
