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
});
