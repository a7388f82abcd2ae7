import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Comparison,
  compare,
  inFlight,
  inSequence,
  type Measured,
  moreThan,
  perRound,
  ratioOf,
} from './measure.ts';

const ONE_SAMPLE = { samplesPerRound: 1, sampleMs: 0, warmUpMs: 0, quietMs: 0 };

describe('compare', () => {
  test('lets every case take its turn in every round and another one begin', async () => {
    const turns: string[] = [];
    const cases = ['a', 'b', 'c'].map((name) => ({ name, run: () => void turns.push(name) }));
    const { cases: measured, rounds } = await compare(cases, { ...ONE_SAMPLE, rounds: 4 });
    assert.equal(turns.join(''), 'abc' + 'abc' + 'bca' + 'cab' + 'abc', 'the first three are the warm-up');
    assert.equal(rounds, 4);
    assert.deepEqual(
      [...measured.values()].map(({ samples, callsPerSample }) => [samples, callsPerSample]),
      [
        [4, 1],
        [4, 1],
        [4, 1],
      ],
    );
  });

  test('begins no further round when its time is up, but makes enough to judge by', async () => {
    const cases = [{ name: 'a', run: () => {} }];
    const { rounds, cases: made } = await compare(cases, { ...ONE_SAMPLE, rounds: 100, longestMs: 0 });
    assert.deepEqual([rounds, made.get('a')?.roundMicros.length], [4, 4]);
    const { rounds: asked } = await compare(cases, { ...ONE_SAMPLE, rounds: 7, longestMs: 60_000 });
    assert.equal(asked, 7);
  });

  test('makes samples longer until they take as long as asked', async () => {
    const asked: number[] = [];
    const spin = (calls: number): void => {
      asked.push(calls);
      for (const until = performance.now() + calls * 5; performance.now() < until; );
    };
    const { cases } = await compare([{ name: 'spin', run: spin }], { ...ONE_SAMPLE, rounds: 1, sampleMs: 200 });
    assert.equal(asked[0], 1);
    assert.ok((cases.get('spin')?.callsPerSample ?? 0) > 1);
  });
});

describe('ratioOf', () => {
  test('compares inside each round, so that a slow round does not count', () => {
    const comparison: Comparison = {
      rounds: 3,
      quietRounds: 0,
      cases: new Map([measured('fast', [1, 10, 1]), measured('slow', [2, 20, 2])]),
    };
    assert.equal(ratioOf(comparison, 'fast', 'slow'), 0.5);
    assert.throws(() => ratioOf(comparison, 'fast', 'absent'), /No such case: absent/);
  });
});

describe('moreThan', () => {
  test('subtracts inside each round, so that a slow round does not count', () => {
    const cases = new Map([measured('floor', [1, 10, 1]), measured('more', [4, 90, 4])]);
    assert.equal(moreThan({ rounds: 3, quietRounds: 0, cases }, 'more', 'floor').measured, 3);
  });
});

describe('perRound', () => {
  test('takes a figure of several cases in every round and tells all of them', () => {
    const cases = new Map([measured('own', [6, 90, 8]), measured('peer', [2, 20, 1]), measured('start', [1, 10, 1])]);
    const figure = perRound(
      { rounds: 3, quietRounds: 0, cases },
      (micros) => micros('own') / (micros('peer') + micros('start')),
    );
    assert.deepEqual(figure, { measured: 3, rounds: [2, 3, 4] });
  });
});

describe('inFlight', () => {
  test('keeps the given number of calls going, inSequence one', async () => {
    for (const [run, width] of [
      [inFlight, 4],
      [(_: number, call: () => Promise<void>) => inSequence(call), 1],
    ] as const) {
      const going = { now: 0, most: 0, made: 0 };
      await run(4, async () => {
        going.made += 1;
        going.most = Math.max(going.most, ++going.now);
        await new Promise(setImmediate);
        going.now -= 1;
      })(12);
      assert.deepEqual(going, { now: 0, most: width, made: 12 });
    }
  });
});

function measured(name: string, roundMicros: readonly number[]): [string, Measured] {
  return [name, { name, medianMicros: 1, p99Micros: 1, samples: 3, callsPerSample: 1, roundMicros }];
}
