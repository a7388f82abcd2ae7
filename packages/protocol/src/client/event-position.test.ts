import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EventPosition } from './event-position.ts';

describe('the position in the events', () => {
  test('is the last one seen, and is forgotten with the session', () => {
    const position = new EventPosition();
    assert.equal(position.after, undefined);
    position.saw(3);
    position.saw(7);
    position.saw(5);
    assert.equal(position.after, 7);
    position.reset();
    assert.equal(position.after, undefined);
  });

  test('goes back for a listener, and live events do not count until the host has followed', () => {
    const position = new EventPosition();
    position.saw(100);
    position.rewindTo(60);
    position.rewindTo(50);
    position.rewindTo(70);
    position.saw(101);
    assert.equal(position.after, 50);
    position.resumed();
    assert.equal(position.after, 50);
    position.saw(51);
    assert.equal(position.after, 51);
  });
});
