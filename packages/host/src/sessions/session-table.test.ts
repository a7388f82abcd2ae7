import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Principal } from '../auth/principal.ts';
import type { ServedSession } from './served-session.ts';
import { dueEnd, type HostSession, isAbandoned, mayUse } from './session-table.ts';

type Life = Pick<ServedSession, 'lastSeen' | 'inFlight' | 'listeners'> & { readonly children: readonly string[] };

function session({ children = [], ...life }: Partial<Life>, more: Partial<HostSession> = {}): HostSession {
  const of = { children: () => children } as unknown as ServedSession['session'];
  const served = { id: 'sess-1', session: of, lastSeen: 0, inFlight: 0, listeners: 0, ...life } as ServedSession;
  return {
    served,
    child: undefined,
    maxInFlight: 8,
    ownerId: 'token:caller',
    workspace: '/w',
    actor: 'caller',
    client: 'test',
    openedAt: 0,
    heartbeatMs: 1000,
    isStrict: false,
    isOfConnection: false,
    isClosing: false,
    isCancelled: false,
    ...more,
  };
}

describe('a session', () => {
  test('expires when nothing was heard of it for longer than its limit', () => {
    assert.equal(dueEnd(session({}), 1000, 50), undefined);
    assert.equal(dueEnd(session({}), 1001, 50), 'expired');
    assert.equal(dueEnd(session({ lastSeen: 500 }), 1001, 50), undefined);
    assert.equal(dueEnd(session({}, { isClosing: true }), 1001, 50), undefined);
  });

  test('is kept alive by calls and connections, unless its client named the limit', () => {
    for (const life of [{ inFlight: 1 }, { listeners: 1 }]) {
      assert.equal(dueEnd(session(life), 1001, 50), undefined);
      assert.equal(dueEnd(session(life, { isStrict: true }), 1001, 50), 'expired');
    }
  });

  test('of one connection ends soon after it, unless something still runs or listens', () => {
    const own = { isOfConnection: true };
    assert.equal(dueEnd(session({}, own), 51, 50), 'closed');
    assert.equal(dueEnd(session({}, own), 50, 50), undefined);
    assert.equal(dueEnd(session({ listeners: 1 }, own), 51, 50), undefined);
    assert.equal(dueEnd(session({}), 51, 50), undefined);
  });

  test('is abandoned when it was opened for a connection and has neither clients nor work left', () => {
    const own = { isOfConnection: true };
    assert.equal(isAbandoned(session({}, own)), true);
    for (const life of [{ listeners: 1 }, { inFlight: 1 }]) assert.equal(isAbandoned(session(life, own)), false);
    assert.equal(isAbandoned(session({}, { ...own, isClosing: true })), false);
    assert.equal(isAbandoned(session({})), false);
  });

  test('is for its owner, its own token and admins', () => {
    const who = (more: Partial<Principal>): Principal => ({ id: 'token:other', name: 'x', scopes: new Set(), ...more });
    assert.equal(mayUse(who({ id: 'token:caller' }), session({})), true);
    assert.equal(mayUse(who({}), session({})), false);
    assert.equal(mayUse(who({ scopes: new Set(['admin']) }), session({})), true);
    assert.equal(mayUse(who({ sessionId: 'sess-1' }), session({})), true);
    assert.equal(
      mayUse(who({ id: 'token:caller', sessionId: 'sess-2', scopes: new Set(['admin']) }), session({})),
      false,
    );
  });
});

describe('a parent', () => {
  test('is not silent while it waits for its children, unless it named its limit itself [S3-49]', () => {
    const children = ['sess-2'];
    assert.equal(dueEnd(session({ children }), 1001, 50), undefined);
    assert.equal(dueEnd(session({ children: [] }), 1001, 50), 'expired');
    assert.equal(dueEnd(session({ children }, { isStrict: true }), 1001, 50), 'expired');
  });

  test('of a connection that is gone ends, and does not give way before its time [S3-49]', () => {
    const parent = session({ children: ['sess-2'] }, { isOfConnection: true });
    assert.equal(dueEnd(parent, 51, 50), 'closed');
    assert.equal(isAbandoned(parent), false);
    assert.equal(isAbandoned(session({}, { isOfConnection: true })), true);
  });
});
