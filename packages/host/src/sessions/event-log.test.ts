import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { EventLog } from './event-log.ts';

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
