/** Clients that speak the bus themselves: what they send reaches no subject but their own, and harms no other client. */
import assert from 'node:assert/strict';
import type { Duplex } from 'node:stream';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Caller } from '../src/bus/answer.ts';
import { askApprovals } from '../src/bus/approvals.ts';
import { KIND } from '../src/bus/tunnel.ts';
import { readLast } from '../src/wire/compare-and-append.ts';
import {
  approvalsSubject,
  gatewaySubject,
  inboxPrefix,
  leaseSubject,
  STREAMS,
  tunnelSubject,
} from '../src/wire/names.ts';
import { connectTo, openWire } from '../src/wire/open-wire.ts';
import { startFleet } from './fixtures.ts';

async function openMember(t: TestContext) {
  const fleet = await startFleet(t);
  const member = await fleet.join(fleet.file('a'));
  const accepted: Duplex[] = [];
  await member.serve((socket) => accepted.push(socket));
  const nc = await connectTo(fleet.file('agent'), { user: 'agent', password: 'of-agent' }, 'test');
  t.after(() => nc.close());
  // The servers answer with no bytes while no host listens.
  while ((await answerTo(nc, 'ready', frame(KIND.ping, 0))).length === 0) await setTimeout(50);
  return { fleet, accepted, nc };
}

const inbox = `${inboxPrefix('agent')}.test`;
const subjectOf = (id: string): string => tunnelSubject('main', 'shop', 'agent', id);

function frame(kind: number, value: number, text = ''): Uint8Array {
  const head = Buffer.alloc(5);
  head.writeUInt8(kind, 0);
  head.writeUInt32BE(value, 1);
  return Buffer.concat([head, Buffer.from(text)]);
}

/** The first answer to a message on a tunnel of its own. */
async function answerTo(nc: NatsConnection, id: string, ...messages: readonly Uint8Array[]): Promise<Uint8Array> {
  const answers = nc.subscribe(`${inbox}.${id}`, { max: 1 });
  for (const message of messages) nc.publish(subjectOf(id), message, { reply: `${inbox}.${id}` });
  for await (const { data } of answers) return data;
  return assert.fail('no answer');
}

describe('a client that speaks the bus itself', () => {
  test('cannot have the host write where only hosts may', async (t) => {
    const { fleet, accepted, nc } = await openMember(t);
    const wire = await openWire(fleet.file('b'), 'test');
    t.after(() => wire.close());
    const lease = leaseSubject('elsewhere');
    const forged = [lease, 'j.main.shop.forged', `${inboxPrefix('operator')}.x`, `${inboxPrefix('agent')}x.y`];
    for (const [at, reply] of forged.entries()) nc.publish(subjectOf(`forged${at}`), frame(KIND.open, 0), { reply });
    for (const [at, reply] of forged.entries()) nc.publish(subjectOf(`forged${at}`), frame(KIND.ping, 1), { reply });
    // The same host answers the same user on its own subject, after everything that was sent before.
    assert.equal((await answerTo(nc, 'own', frame(KIND.open, 0), frame(KIND.ping, 1)))[0], KIND.pong);
    assert.equal((await readLast(wire, STREAMS.leases, lease)).message, undefined);
    assert.equal((await readLast(wire, STREAMS.journal, 'j.main.shop.forged')).message, undefined);
    assert.equal(accepted.length, 1);
  });

  test('ends its own tunnel with a message that is cut short, and no other', async (t) => {
    const { nc } = await openMember(t);
    const other = 'other';
    assert.equal((await answerTo(nc, other, frame(KIND.open, 0), frame(KIND.ping, 1)))[0], KIND.pong);
    for (const [at, short] of [Uint8Array.of(), Uint8Array.of(KIND.data), Uint8Array.of(KIND.ack, 0)].entries()) {
      assert.equal((await answerTo(nc, `short${at}`, frame(KIND.open, 0), short))[0], KIND.reset);
    }
    assert.equal((await answerTo(nc, 'cut', Uint8Array.of(KIND.open)))[0], KIND.reset);
    assert.equal((await answerTo(nc, other, frame(KIND.ping, 1)))[0], KIND.pong);
  });

  test('as a host, cannot stop approvals of others or have them answer elsewhere', async (t) => {
    const fleet = await startFleet(t);
    const member = await fleet.join(fleet.file('a'));
    member.serveApprovals((question) => {
      if (question['op'] === 'fail') throw new TypeError('broken');
      return { said: question['op'] ?? null };
    });
    const wire = await openWire(fleet.file('b'), 'test');
    t.after(() => wire.close());
    const subject = approvalsSubject(wire.tenant, 'gw', wire.user);
    const elsewhere = 'j.main.shop.forged';
    for (const text of ['not JSON', '[]', 'null', '']) wire.nc.publish(subject, text, { reply: `${inbox}.x` });
    wire.nc.publish(subject, JSON.stringify({ op: 'list', by: 'b' }), { reply: elsewhere });
    const [failed] = await askApprovals(wire, { op: 'fail', by: 'b' });
    assert.equal((failed?.['error'] as { readonly code?: string } | undefined)?.code, 'E_INTERNAL');
    assert.deepEqual(await askApprovals(wire, { op: 'answer', by: 'b' }), [{ said: 'answer' }]);
    assert.equal((await readLast(wire, STREAMS.journal, elsewhere)).message, undefined);
  });

  test('approves only where the host names it as an approver', async (t) => {
    const fleet = await startFleet(t);
    const member = await fleet.join(fleet.file('a', { approvers: ['maria'] }));
    member.serveApprovals((_, by) => ({ asked_by: by }));
    const callers: Caller[] = [];
    await member.serve((_, caller) => callers.push(caller));
    const users = await Promise.all(
      ['eve', 'maria'].map(async (user) => {
        const nc = await connectTo(fleet.file(user), { user, password: `of-${user}` }, 'test');
        t.after(() => nc.close());
        return { user, nc };
      }),
    );
    const answers: string[] = [];
    for (const { user, nc } of users) {
      const own = `${inboxPrefix(user)}.answers`;
      const answered = nc.subscribe(own, { callback: (_, message) => void answers.push(message.string()) });
      nc.publish(approvalsSubject('main', 'user', user), JSON.stringify({ op: 'list', by: 'maria' }), { reply: own });
      await nc.flush();
      const reply = `${inboxPrefix(user)}.tunnel`;
      const opened = nc.subscribe(reply, { max: 1 });
      // The host answers in order, so what came before is answered too when this is.
      nc.publish(tunnelSubject('main', 'shop', user, 't'), frame(KIND.open, 0), { reply });
      nc.publish(tunnelSubject('main', 'shop', user, 't'), frame(KIND.ping, 1), { reply });
      for await (const { data } of opened) assert.equal(data[0], KIND.pong);
      await nc.flush();
      answered.unsubscribe();
    }
    assert.deepEqual(answers, ['{"asked_by":"maria"}']);
    assert.deepEqual(
      callers.map(({ user, mayApprove }) => [user, mayApprove]),
      [
        ['eve', false],
        ['maria', true],
      ],
    );
  });

  test('as a host, vouches for a name or is not let in, and never for an approver', async (t) => {
    const fleet = await startFleet(t);
    const member = await fleet.join(fleet.file('a', { approvers: ['maria'] }));
    const callers: Caller[] = [];
    await member.serve((_, caller) => callers.push(caller));
    const nc = await connectTo(fleet.file('b'), { user: 'b', password: 'of-b' }, 'test');
    t.after(() => nc.close());
    const open = async (id: string, about: string): Promise<number | undefined> => {
      const reply = `${inboxPrefix('b')}.${id}`;
      const answers = nc.subscribe(reply, { max: 1 });
      const subject = `${gatewaySubject('main', 'shop')}.b.${id}`;
      nc.publish(subject, frame(KIND.open, 0, about), { reply });
      nc.publish(subject, frame(KIND.ping, 1), { reply });
      for await (const { data } of answers) return data[0];
      return undefined;
    };
    for (const [at, about] of ['', '{}', '{"name":""}', 'maria', `{"name":"${'x'.repeat(201)}"}`].entries()) {
      assert.equal(await open(`none${at}`, about), KIND.reset, about);
    }
    assert.equal(await open('named', '{"name":"maria"}'), KIND.pong);
    assert.deepEqual(callers, [{ user: 'maria', workspace: 'shop', mayApprove: false, via: 'b' }]);
  });
});
