import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ExpectedChange, Rehearsal, SubjectReader } from '../contracts/rehearsal.ts';
import { compareRehearsal } from './compare-rehearsal.ts';

const ANSWER = { status: 'completed', data: { done: true }, errors: [], warnings: [] };

interface Entry {
  readonly content: string;
  readonly version: number;
}

function reader(world: readonly (Entry | undefined)[], root = 'root'): SubjectReader {
  return {
    root,
    read(subject) {
      const entry = world[Number(subject)];
      return entry === undefined ? undefined : { content: entry.content, exact: `${entry.content}@${entry.version}` };
    },
  };
}

function rehearsalOf(changes: readonly ExpectedChange[]): Rehearsal {
  return { root: 'root', changes, answer: ANSWER };
}

const entry = fc.record({ content: fc.constantFrom('old', 'new', 'other'), version: fc.constantFrom(1, 2) });

describe('compareRehearsal', () => {
  test('all as intended, all as before, or unclear: against a plain reading of the rule [S1-43]', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ before: entry, after: fc.constantFrom('old', 'new', null), now: entry }), {
          minLength: 1,
          maxLength: 3,
        }),
        async (subjects) => {
          const changes = subjects.map(({ before, after }, at) => {
            return { subject: String(at), before: `${before.content}@${before.version}`, after };
          });
          const { verdict } = await compareRehearsal(rehearsalOf(changes), reader(subjects.map(({ now }) => now)));
          const isIntended = subjects.every(({ after, now }) => after === now.content);
          const isBefore = subjects.every(({ before: { content, version }, now }) => {
            return content === now.content && version === now.version;
          });
          assert.equal(verdict, isIntended ? 'happened' : isBefore ? 'not_happened' : 'unclear');
        },
      ),
      { seed: 71 },
    );
  });

  const change = { subject: '0', before: 'old@1', after: 'new' };
  for (const [title, rehearsal, world] of [
    ['nothing was noted', undefined, reader([{ content: 'old', version: 1 }])],
    ['no change was noted', rehearsalOf([]), reader([])],
    ['it cannot be read', rehearsalOf([change]), reader([undefined])],
    ['it was made below another root', rehearsalOf([change]), reader([{ content: 'new', version: 2 }], 'elsewhere')],
  ] as const) {
    test(`unclear when ${title} [S1-43]`, async () => {
      assert.equal((await compareRehearsal(rehearsal, world)).verdict, 'unclear');
    });
  }

  test('what only a look afterwards can tell becomes part of the answer', async () => {
    const noted = { ...rehearsalOf([change]), answer: { ...ANSWER, data: null } };
    const found = { commit: 'c1' };
    const comparison = await compareRehearsal(noted, {
      root: 'root',
      read: () => ({ content: 'new', exact: 'new@2', found }),
    });
    assert.deepEqual(comparison, { verdict: 'happened', answer: { ...ANSWER, data: found } });
  });
});
