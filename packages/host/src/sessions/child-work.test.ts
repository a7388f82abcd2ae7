import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { ToolError } from '@tool-runtime/protocol';
import { openMember } from '../../test/fleet-member.ts';

const CLIENT = { user: 'agent', workspace: 'one' };
const OTHER_HOST = { ...CLIENT, via: 'b' };
const REPORT = { usage: { calls: 3, errors: 1, bytes: 2, duration_ms: 4 }, spent: { max_calls: 2 } };

/** A session of a client of the fleet, and a child of it that is to work on another host. */
async function openChild(t: TestContext, registry = 'version: 1\n') {
  const member = await openMember(t, { one: registry });
  const { ask } = member;
  const parent = (await ask(CLIENT, 'POST', '/v1/sessions', {})).body;
  const body = { agent_id: 'reviewer', workspace: 'two', budget: { max_calls: 5 } };
  const child = (await ask(CLIENT, 'POST', `/v1/sessions/${parent.session_id}/children`, body)).body;
  return { ...member, parent, child, path: `/v1/sessions/${child.session_id}/elsewhere` };
}

test('the host that takes a child gets its grant, and the package apart from it', async (t) => {
  const { ask, send, path, child, packages } = await openChild(t);
  const answer = await send(OTHER_HOST, 'POST', path, { token: child.token, holder: 'one' });
  assert.equal(answer.statusCode, 200);
  const [line] = await once(answer.setEncoding('utf8'), 'data');
  const grant = JSON.parse(line);
  assert.deepEqual([grant.session_id, grant.agent_id, grant.actor], [child.session_id, 'reviewer', 'agent/reviewer']);
  assert.deepEqual(grant.budget, { max_calls: 5 });
  assert.equal('package' in grant, false);
  assert.equal(JSON.parse(packages[Number(grant.package_ref)] ?? '').agent.agent_id, 'reviewer');
  await ask(OTHER_HOST, 'POST', `${path}/report`, { holder: 'one', ...REPORT, ended: 'completed' });
});

test('its reports count, and its end is the end of the child', async (t) => {
  const { ask, send, path, child, parent } = await openChild(t, 'version: 1\nbudgets: { max_calls: 20 }\n');
  const taken = await send(OTHER_HOST, 'POST', path, { token: child.token, holder: 'one' });
  taken.resume();
  const report = (more: object) => ask(OTHER_HOST, 'POST', `${path}/report`, { holder: 'one', ...REPORT, ...more });
  assert.equal((await report({})).status, 204);
  assert.equal((await report({ holder: 'two' })).status, 404);
  assert.equal((await report({ ended: 'completed' })).status, 204);
  await once(taken, 'end');
  assert.equal((await report({})).status, 404);
  const { body } = await ask(CLIENT, 'GET', `/v1/sessions/${parent.session_id}`);
  assert.deepEqual(body.budget.max_calls, { used: 2, given: 20 });
});

test('a client that is not of the fleet opens no such child, and no session under one', async (t) => {
  const { ask, child } = await openChild(t);
  const under = { workspace: 'two', session_id: child.session_id, token: child.token };
  const refused = await ask(OTHER_HOST, 'POST', '/v1/sessions', { under });
  assert.deepEqual([refused.status, refused.body.details.reason], [403, 'not_in_fleet']);
  const guest = (await ask(OTHER_HOST, 'POST', '/v1/sessions', {})).body;
  const path = `/v1/sessions/${guest.session_id}/children`;
  const opened = await ask(OTHER_HOST, 'POST', path, { agent_id: 'x', workspace: 'two' });
  assert.deepEqual([opened.status, opened.body.details.reason], [403, 'not_in_fleet']);
  assert.equal((await ask(OTHER_HOST, 'POST', path, { agent_id: 'x' })).status, 201);
});

test('a report that is out of all proportion is refused', async (t) => {
  const { ask, send, path, child, parent } = await openChild(t, 'version: 1\nbudgets: { max_calls: 20 }\n');
  const taken = await send(OTHER_HOST, 'POST', path, { token: child.token, holder: 'one' });
  taken.resume();
  const report = (more: object) => ask(OTHER_HOST, 'POST', `${path}/report`, { holder: 'one', ...REPORT, ...more });
  for (const count of [-1, 1e300, Number.MAX_SAFE_INTEGER]) {
    for (const name of ['calls', 'errors', 'bytes', 'duration_ms']) {
      assert.equal((await report({ usage: { ...REPORT.usage, [name]: count } })).status, 400);
    }
    for (const name of ['max_calls', 'max_bytes', 'max_duration_ms']) {
      assert.equal((await report({ spent: { [name]: count } })).status, 400);
    }
  }
  assert.equal((await report({ ended: 'completed' })).status, 204);
  const { body } = await ask(CLIENT, 'GET', `/v1/sessions/${parent.session_id}`);
  assert.deepEqual(body.budget.max_calls, { used: 2, given: 20 });
});

test('a host that the package cannot be given to has not taken the child', async (t) => {
  const { ask, send, path, child, carrier, parent } = await openChild(t, 'version: 1\nbudgets: { max_calls: 20 }\n');
  carrier.putPackage = () => Promise.reject(new Error('no leader'));
  const failed = await ask(OTHER_HOST, 'POST', path, { token: child.token, holder: 'one' });
  assert.equal(failed.status, 500);
  delete carrier.putPackage;
  const taken = await send(OTHER_HOST, 'POST', path, { token: child.token, holder: 'two' });
  assert.equal(taken.statusCode, 200);
  taken.resume();
  await ask(OTHER_HOST, 'POST', `${path}/report`, { holder: 'two', ...REPORT, ended: 'completed' });
  const { body } = await ask(CLIENT, 'GET', `/v1/sessions/${parent.session_id}`);
  assert.deepEqual(body.budget.max_calls, { used: 2, given: 20 });
});

/** Lets time pass until it has happened. */
async function passTime(t: TestContext, until: Promise<unknown>): Promise<void> {
  let isOver = false;
  void until.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    t.mock.timers.tick(1000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a host whose connection is gone before it got the grant is given up', async (t) => {
  const { ask, send, path, child, carrier, parent } = await openChild(t);
  const [putting, put] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  carrier.putPackage = () => {
    putting.resolve();
    return put.promise;
  };
  const stop = new AbortController();
  const taking = send(OTHER_HOST, 'POST', path, { token: child.token, holder: 'one' }, { signal: stop.signal });
  await putting.promise;
  stop.abort();
  await assert.rejects(taking);
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  put.resolve('0');
  await new Promise((resolve) => setImmediate(resolve));
  const ending = ask(CLIENT, 'DELETE', `/v1/sessions/${child.session_id}`);
  await passTime(t, ending);
  assert.equal((await ending).status, 200);
  await ask(CLIENT, 'DELETE', `/v1/sessions/${parent.session_id}`);
});

test('a host that is to cancel gains no time by coming back', async (t) => {
  const { ask, send, path, child, parent } = await openChild(t);
  const take = async () => {
    const taken = await send(OTHER_HOST, 'POST', path, { token: child.token, holder: 'one' });
    taken.resume();
    return taken;
  };
  await take();
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let isEnded = false;
  const ending = ask(CLIENT, 'DELETE', `/v1/sessions/${parent.session_id}?mode=cancel`).finally(() => {
    isEnded = true;
  });
  let waited = 0;
  for (; !isEnded && waited < 30; waited += 1) {
    const back = await take();
    t.mock.timers.tick(1000);
    back.destroy();
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(waited < 30);
  assert.equal((await ending).status, 204);
});

test('a host is believed what is the client’s own, and no client learns where there are hosts', async (t) => {
  const { ask, carrier } = await openMember(t);
  const under = { workspace: 'far', session_id: 'sess-1', token: 'x' };
  const ends: string[] = [];
  const open = async (grant: object) => {
    carrier.takeChild = async () => ({
      grant: { ...grant },
      onAsked() {},
      report: async () => {},
      finish: async (_, how) => void ends.push(how),
    });
    const { status, body } = await ask(CLIENT, 'POST', '/v1/sessions', { under });
    return [status, body.details?.reason];
  };
  const unknown = [404, 'unknown_session'];
  for (const actor of ['maria/reviewer', 'agent', 'agents/reviewer', '', 3, undefined]) {
    assert.deepEqual(await open({ session_id: 'sess-1', actor }), unknown);
  }
  assert.deepEqual(await open({ session_id: 'sess-2', actor: 'agent/reviewer' }), unknown);
  assert.deepEqual(ends, Array(7).fill('cancelled'));
  // Believed so far, and then read.
  const [status] = await open({ session_id: 'sess-1', actor: 'agent/reviewer' });
  assert.equal(status, 400);
  carrier.takeChild = () =>
    Promise.reject(new ToolError('E_HTTP', 'No host holds this workspace: far', { details: { reason: 'no_host' } }));
  const { status: absent, body } = await ask(CLIENT, 'POST', '/v1/sessions', { under });
  assert.deepEqual([absent, body.details.reason, body.message.includes('far')], [404, 'unknown_session', false]);
});

for (const [what, isGone] of [
  ['is gone before it could work', true],
  ['does not cancel', false],
] as const) {
  test(`a host that ${what} is given up, and the parent ends`, async (t) => {
    const { ask, send, path, child, parent } = await openChild(t);
    const taken = await send(OTHER_HOST, 'POST', path, { token: child.token, holder: 'one' });
    t.mock.timers.enable({ apis: ['setTimeout'] });
    if (isGone) taken.destroy();
    else taken.resume();
    let isEnded = false;
    const ending = ask(CLIENT, 'DELETE', `/v1/sessions/${parent.session_id}?mode=cancel`).finally(() => {
      isEnded = true;
    });
    while (!isEnded) {
      t.mock.timers.tick(1000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal((await ending).status, 204);
  });
}
