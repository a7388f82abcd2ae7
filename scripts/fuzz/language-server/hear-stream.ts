/** One stream of bytes, cut anywhere, heard while a question waits. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { below, createRandom } from '../seeded-random.ts';
import type { ClientMessage, FakeLanguageServer } from './fake-server.ts';
import { readFrames } from './reference-frames.ts';
import { end, newDeadline, reasonOf, type Scene } from './scene.ts';

const QUESTION = 'fuzz/waits';
const TURNS = 30;

/** In a word how the question ended. */
export async function hearStream(stream: Buffer, scene: Scene): Promise<string> {
  let asked: ClientMessage['id'];
  const { server, session } = await scene.open(({ id, method }) => {
    if (method === QUESTION) asked = id;
  });
  const waiting = settled(session.process.request(QUESTION, {}, newDeadline()));
  // It is looked at later.
  waiting.catch(() => {});
  await turn();
  await feed(stream, server);
  const { bodies, isBroken, isAtBorder } = readFrames(stream);
  if (session.process.isEnding) {
    assert.ok(isBroken || !bodies.every(isReadable), 'ended although every frame is good');
  } else {
    assert.ok(!isBroken, 'a broken stream was taken for frames');
    // Whatever it heard before, it hears a good answer.
    if (isAtBorder) server.answer({ jsonrpc: '2.0', id: asked, result: 'heard' });
    else await end(session);
  }
  const outcome = await waiting;
  await end(session);
  return outcome;
}

/** The library reads a cancel as it comes, and cannot when it does not say of what. */
function isReadable(body: Buffer): boolean {
  try {
    const message = JSON.parse(body.toString('utf8')) as { method?: unknown; params?: { id?: unknown } } | null;
    if (message?.method !== '$/cancelRequest') return true;
    return ['string', 'number'].includes(typeof message.params?.id);
  } catch {
    return false;
  }
}

async function feed(stream: Buffer, server: FakeLanguageServer): Promise<void> {
  const random = createRandom(stream.length);
  for (let at = 0; at < stream.length; ) {
    const size = random() < 0.3 ? stream.length : 1 + below(random, 40);
    server.say(stream.subarray(at, at + size));
    at += size;
    if (random() < 0.2) await turn();
  }
  for (let turns = 0; turns < TURNS; turns++) await turn();
}

async function settled(request: Promise<unknown>): Promise<string> {
  try {
    return (await request) === 'heard' ? 'heard' : 'answered before';
  } catch (thrown) {
    return reasonOf(thrown);
  }
}
