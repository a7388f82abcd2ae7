import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SAMPLES } from '../../test/sample-messages.ts';
import type { SessionAttach } from '../envelopes/from-client/session-attach.ts';
import type { Connection } from './connection.ts';
import { EventPosition, SessionJoins } from './session-joins.ts';

const ack = SAMPLES.SessionAck;
const sessionId = ack.session_id;
const base = { type: 'SessionAttach', session_id: sessionId } as const;
const socket = {} as Connection;
const http = { wantEvents: () => undefined } as unknown as Connection;
const wish = (rest: Partial<SessionAttach> = {}): SessionAttach => ({ ...base, ...rest });
const greeted = { sessionId, pending: [], isGreeted: true };

describe('joining a session', () => {
  test('needs nothing on the first connection that is greeted with it, and resumes on every later one', () => {
    const joins = new SessionJoins();
    assert.deepEqual(joins.begin(socket, greeted), []);
    assert.deepEqual(joins.begin(socket, greeted), [{ ...base, after: 0 }]);
    joins.position.saw(7);
    assert.deepEqual(joins.begin(socket, { ...greeted, pending: ['r'] }), [{ ...base, after: 7, pending: ['r'] }]);
    joins.restart();
    assert.deepEqual(joins.begin(socket, { ...greeted, isGreeted: false }), [base]);
  });

  test('over HTTP only asks for what is owed', () => {
    const joins = new SessionJoins();
    for (const _time of [1, 2]) assert.deepEqual(joins.begin(http, greeted), []);
    assert.deepEqual(joins.begin(http, { ...greeted, pending: ['r'] }), [{ ...base, after: 0, pending: ['r'] }]);
    joins.wantsProgress = true;
    assert.deepEqual(joins.begin(http, greeted), [{ ...base, after: 0, events: 'progress' }]);
  });

  test('keeps the widest level and the oldest start on every connection', () => {
    const joins = new SessionJoins();
    joins.begin(socket, greeted);
    joins.position.saw(9);
    joins.want(wish({ events: 'all', after: 3 }));
    joins.want(wish({ events: 'progress' }));
    assert.deepEqual(joins.takeDue(sessionId), { ...base, events: 'all', after: 3 });
    assert.equal(joins.takeDue(sessionId), undefined);
    assert.deepEqual(joins.begin(socket, greeted), [{ ...base, events: 'all', after: 3 }]);
  });

  test('shows the client the answers to its own wishes only', () => {
    const joins = new SessionJoins();
    joins.begin(socket, { ...greeted, isGreeted: false });
    joins.ask(sessionId, 'r');
    joins.want(wish());
    // A wish that came after the first message went out: its answer is still to come.
    assert.equal(joins.acknowledged(ack, sessionId), false);
    joins.takeDue(sessionId);
    assert.deepEqual(
      [1, 2, 3].map(() => joins.acknowledged(ack, sessionId)),
      [false, true, false],
    );
  });

  test('does not take the SessionAck of another session for its own', () => {
    const joins = new SessionJoins();
    joins.begin(socket, { ...greeted, isGreeted: false });
    assert.equal(joins.acknowledged({ ...ack, session_id: 'other' }, sessionId), false);
  });
});

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
