import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type FilePair, landings, SPOILS } from './landing/cases.ts';
import { OURS } from './landing/matchers.ts';
import { score } from './landing/score.ts';

const FOLDER = join(import.meta.dirname, '../packages/sdk/src/text');
const LEAST_SHARE = 0.97;

/** Files of this repository, each beside a copy with every fortieth line changed, doubled or left out. */
const pairs: readonly FilePair[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .sort()
  .map((name) => {
    const before = readFileSync(join(FOLDER, name), 'utf8');
    const after = before.split('\n').flatMap((line, at) => {
      if (at % 40 !== 20) return [line];
      return [[line.replace(/\w+/, 'changed')], [line, line], []][(at / 20) % 3] ?? [line];
    });
    return { name, before, after: after.join('\n') };
  });

describe('spoilt edit requests', () => {
  const requests = landings(pairs);

  test('come in every kind, and most can be placed', () => {
    assert.deepEqual([...new Set(requests.map(({ spoil }) => spoil))].sort(), Object.keys(SPOILS).sort());
    assert.ok(requests.filter(({ placeable }) => placeable.edit).length > requests.length / 2);
  });

  for (const matcher of OURS) {
    test(`${matcher.name} never lands one wrong, and lands what can be placed`, () => {
      const { wrong, marred, mistakes, placed, placeable, misses } = score(matcher, requests);
      assert.deepEqual([wrong, marred], [0, 0], mistakes.join('\n'));
      assert.ok(
        placeable > 100 && placed >= LEAST_SHARE * placeable,
        `${placed} of ${placeable}\n${misses.join('\n')}`,
      );
    });
  }
});
