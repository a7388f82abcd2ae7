import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ArtifactStore } from '../../contracts/artifacts.ts';
import { OutputKeeper } from './output-keeper.ts';

interface Watched {
  readonly store: ArtifactStore;
  readonly events: readonly string[];
}

/** A disk with room for so many bytes. */
function smallDisk(room: number): Watched {
  const events: string[] = [];
  let left = room;
  const store: ArtifactStore = {
    create() {
      events.push('create');
      return {
        handle: 'artifact:0',
        write(chunk) {
          left -= chunk.length;
          if (left < 0) throw Object.assign(new TypeError('no space left'), { code: 'ENOSPC' });
        },
        finish() {
          events.push('finish');
          return { handle: 'artifact:0', digest: 'sha256:0', bytes: room - left };
        },
        discard: () => void events.push('discard'),
      };
    },
    read: () => assert.fail('nobody reads'),
    prune: () => 0,
  };
  return { store, events };
}

const bytes = (count: number): Uint8Array => new Uint8Array(count);

describe('kept output', () => {
  test('short output stays in memory and makes no artifact', () => {
    const { store, events } = smallDisk(100);
    const keeper = new OutputKeeper(store, 10);
    keeper.add(bytes(10));
    assert.equal(keeper.finish(), undefined);
    assert.deepEqual(events, []);
  });

  test('longer output becomes an artifact with all of it [S2-22]', () => {
    const { store, events } = smallDisk(100);
    const keeper = new OutputKeeper(store, 10);
    for (const count of [6, 6, 6]) keeper.add(bytes(count));
    assert.equal(keeper.finish()?.bytes, 18);
    assert.equal(keeper.problem, undefined);
    assert.deepEqual(events, ['create', 'finish']);
  });

  for (const room of [3, 15]) {
    test(`a disk with room for ${room} bytes costs the artifact, not the command, and leaves nothing open`, () => {
      const { store, events } = smallDisk(room);
      const keeper = new OutputKeeper(store, 10);
      for (const count of [6, 6, 6]) keeper.add(bytes(count));
      assert.equal(keeper.finish(), undefined);
      assert.equal((keeper.problem as NodeJS.ErrnoException).code, 'ENOSPC');
      assert.equal(keeper.bytes, 18);
      assert.deepEqual(events, ['create', 'discard']);
    });
  }

  test('what nobody will ask for is discarded once', () => {
    const { store, events } = smallDisk(100);
    const keeper = new OutputKeeper(store, 10);
    keeper.add(bytes(20));
    keeper.discard();
    keeper.discard();
    assert.deepEqual(events, ['create', 'discard']);
  });
});
