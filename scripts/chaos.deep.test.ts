import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { faultNames } from './chaos/faults/make-trouble.ts';
import { caseNames, testOracles } from './chaos/self-test.ts';

/** The run itself takes minutes and belongs to `.ci/nightly`; what judges it is tested every time. */
describe('chaos', () => {
  test('every oracle passes a right world and finds the one thing that is wrong with a broken one', async () => {
    assert.ok(caseNames().length > 10);
    assert.deepEqual(await testOracles(), []);
  });

  test('faults have names of their own', () => {
    assert.equal(new Set(faultNames()).size, faultNames().length);
    assert.ok(faultNames().length > 10);
  });
});
