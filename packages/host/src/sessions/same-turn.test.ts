import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SameTurn } from './same-turn.ts';

describe('SameTurn', () => {
  test('lets everyone of one turn go on together, in their order, and those of the next one later', async () => {
    const turns = new SameTurn();
    const seen: string[] = [];
    const arrive = async (name: string): Promise<void> => {
      await turns.end();
      seen.push(name);
    };
    const first = [arrive('a'), arrive('b')];
    await Promise.resolve();
    first.push(arrive('c'));
    assert.deepEqual(seen, []);
    await Promise.all(first);
    assert.deepEqual(seen, ['a', 'b', 'c']);
    const later = arrive('d');
    assert.deepEqual(seen, ['a', 'b', 'c']);
    await later;
    assert.deepEqual(seen, ['a', 'b', 'c', 'd']);
  });
});
