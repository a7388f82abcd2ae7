import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { KIND, Tunnel } from './tunnel.ts';

type Loss = (bytes: Uint8Array) => boolean;

/** Two ends; what one sends the other receives a turn later. */
function pair(isLost: Loss = () => false, patienceMs = 30_000): { client: Tunnel; host: Tunnel; sent: number[] } {
  const sent: number[] = [];
  const to = (other: () => Tunnel) => ({
    send(bytes: Uint8Array) {
      const copy = Uint8Array.from(bytes);
      sent.push(copy.length);
      if (!isLost(copy)) setImmediate(() => other().destroyed || other().receive(copy));
    },
    onEnd() {},
    patienceMs,
  });
  const client: Tunnel = new Tunnel(to(() => host));
  const host: Tunnel = new Tunnel(to(() => client));
  client.open();
  return { client, host, sent };
}

describe('a tunnel', () => {
  test('carries bytes both ways and ends in order', async () => {
    const { client, host } = pair();
    const big = Buffer.alloc(700_000, 'x');
    client.end(big);
    const got: Buffer[] = [];
    host.on('data', (chunk) => got.push(chunk));
    await once(host, 'end');
    assert.ok(Buffer.concat(got).equals(big));
    host.end('answer');
    client.setEncoding('utf8');
    const [text] = await once(client, 'data');
    assert.equal(text, 'answer');
  });

  test('no message is larger than the servers take', async () => {
    const { client, host, sent } = pair();
    host.resume();
    client.end(Buffer.alloc(3_000_000));
    await once(host, 'end');
    assert.ok(Math.max(...sent) < 1024 * 1024);
  });

  test('a lost message ends it instead of being skipped', async () => {
    let count = 0;
    const { client, host } = pair((bytes) => bytes[0] === KIND.data && ++count === 2);
    const closed = (end: Tunnel) => new Promise<void>((resolve) => end.once('close', resolve));
    const ended = [closed(host), closed(client)];
    host.on('data', () => {});
    let why: unknown;
    host.on('error', (error) => {
      why = error;
    });
    client.write('one');
    client.write('two');
    client.write('three');
    await Promise.all(ended);
    assert.ok(isToolError(why) && why.details['reason'] === 'host_lost');
  });

  test('a lost message that nothing follows is noticed by the next probe of either side', async () => {
    for (const prober of ['client', 'host'] as const) {
      const ends = pair((bytes) => bytes[0] === KIND.data);
      const closed = new Promise<unknown>((resolve) => ends.host.once('error', resolve));
      const other = new Promise((resolve) => ends.client.once('close', resolve));
      ends.client.write('lost');
      ends[prober].ping();
      const why = await closed;
      assert.ok(isToolError(why) && (prober === 'host' || why.details['because'] === 'gap'), String(why));
      await other;
    }
    const { client, host } = pair();
    host.resume();
    client.write('kept');
    client.ping();
    host.ping();
    client.end('all');
    await once(host, 'end');
    assert.deepEqual([client.destroyed, host.errored], [false, null]);
  });

  test('a reader that takes nothing for too long is cut off; one that reads slowly is not', async () => {
    const cut = pair(() => false, 50).client;
    const closed = new Promise<unknown>((resolve) => cut.once('error', resolve));
    cut.write(Buffer.alloc(4_000_000));
    const why = await closed;
    assert.ok(isToolError(why) && why.details['because'] === 'slow');
    const { client, host } = pair(() => false, 60_000);
    client.end(Buffer.alloc(4_000_000));
    host.resume();
    await once(host, 'end');
  });

  test('a reader that stops reading stops the sender', async () => {
    const { client, host } = pair();
    let written = 0;
    const chunk = Buffer.alloc(100_000);
    while (client.writableLength < 4_000_000 && written < 400) {
      client.write(chunk);
      written += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(written < 400, 'the sender was stopped');
    let got = 0;
    host.on('data', (bytes: Buffer) => {
      got += bytes.length;
    });
    client.end();
    await once(host, 'end');
    assert.equal(got, written * chunk.length);
  });

  test('a write that is larger than the window is sent in parts, as the reader takes them', async () => {
    const { client, host, sent } = pair();
    client.end(Buffer.alloc(10_000_000));
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.ok(sent.reduce((sum, bytes) => sum + bytes, 0) < 4_000_000, 'the sender was stopped');
    let got = 0;
    host.on('data', (bytes: Buffer) => {
      got += bytes.length;
    });
    await once(host, 'end');
    assert.equal(got, 10_000_000);
  });

  test('a sender that ignores the window is cut off', () => {
    const { host, deliver } = alone();
    deliver(KIND.open, 0);
    let at = 1;
    while (!host.destroyed && at < 100) deliver(KIND.data, at++, Buffer.alloc(256 * 1024));
    assert.ok(host.destroyed && at < 16, `${at} messages were kept`);
    const small = alone();
    small.deliver(KIND.open, 0);
    at = 1;
    while (!small.host.destroyed && at < 50_000) small.deliver(KIND.data, at++);
    assert.ok(small.host.destroyed, 'empty messages are kept without end');
  });

  test('a reader that acknowledges more than was sent is cut off', () => {
    const { host, deliver } = alone();
    deliver(KIND.open, 0);
    host.write('four');
    deliver(KIND.ack, 1);
    assert.equal(host.destroyed, false);
    deliver(KIND.ack, 1_000_000);
    assert.equal(host.destroyed, true);
  });

  test('a message that is cut short ends it', () => {
    for (const short of [[], [KIND.ping], [KIND.data, 0, 0, 0], [KIND.ack, 0]]) {
      const { host, deliver } = alone();
      deliver(KIND.open, 0);
      host.receive(Uint8Array.from(short));
      assert.equal(host.destroyed, true, `bytes: ${short.join(' ')}`);
    }
  });
});

/** One end whose other side is the test. */
function alone() {
  const host = new Tunnel({ send() {}, onEnd() {} });
  return {
    host,
    deliver(kind: number, value: number, payload = Buffer.alloc(0)): void {
      const head = Buffer.alloc(5);
      head.writeUInt8(kind, 0);
      head.writeUInt32BE(value, 1);
      host.receive(Buffer.concat([head, payload]));
    },
  };
}
