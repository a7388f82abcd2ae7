import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { eventMessageSchema } from './from-host/event-message.ts';
import { createProgress } from './progress.ts';

test('progress stays inside 0 to 100 and never goes back, whatever is reported [S0-5]', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.double(), fc.integer({ min: -20, max: 140 }))), (reports) => {
      const progress = createProgress();
      let last = 0;
      for (const pct of reports) {
        const step = progress.advance(pct, 'm');
        assert.ok(eventMessageSchema.shape.progress.safeParse(step).success);
        assert.ok(step.pct >= last);
        last = step.pct;
      }
    }),
  );
});

test('progress passes honest reports through, each request on its own [S0-5]', () => {
  const [first, second] = [createProgress(), createProgress()];
  assert.deepEqual(first.advance(60, 'most'), { pct: 60, message: 'most' });
  assert.deepEqual(second.advance(10, 'some'), { pct: 10, message: 'some' });
  assert.deepEqual(first.advance(40, 'back'), { pct: 60, message: 'back' });
  assert.deepEqual(first.advance(Number.NaN, 'odd'), { pct: 60, message: 'odd' });
  assert.deepEqual(first.advance(250, 'over'), { pct: 100, message: 'over' });
});
