/** Where a server takes idempotency keys, a repeated call takes effect once. */
import { randomUUID } from 'node:crypto';
import type { Scene } from '../scene/scene.ts';
import { type Case, expect, shown } from './case.ts';
import { writesInside } from './twins.ts';

/** A write with a key; then another program changes the file, so that a second effect can be seen. */
async function writeOnce(scene: Scene): Promise<string> {
  const key = randomUUID();
  const { ok, text } = await scene.call('write', { path: 'once.txt', content: 'by the call\n' }, key);
  expect(ok, `A write with a key is refused: ${shown(text)}`);
  scene.put('once.txt', 'by someone else\n');
  return key;
}

async function repeatMustDoNothing(scene: Scene, key: string): Promise<void> {
  const { ok, text } = await scene.call('write', { path: 'once.txt', content: 'by the call\n' }, key);
  const now = scene.bytes('once.txt')?.toString();
  expect(now === 'by someone else\n', 'The repeated call wrote the file a second time');
  expect(ok, `The repeated call is not answered as the first one was: ${shown(text)}`);
}

export const idempotency: readonly Case[] = [
  {
    id: 'idempotency.repeat',
    needs: ['write', 'idempotency'],
    tries: 'sends the same write with the same key again',
    wrong: 'it is carried out a second time',
    why: 'Clients repeat calls after a lost answer; work done in between must not be overwritten.',
    twin: writesInside,
    attack: async (scene) => repeatMustDoNothing(scene, await writeOnce(scene)),
  },
  {
    id: 'idempotency.conflict',
    needs: ['write', 'idempotency'],
    after: ['idempotency.repeat'],
    tries: 'sends another write with a key that was used',
    wrong: 'it is carried out, or answered as if it had been',
    why: 'A key that was used twice by mistake must be noticed, not hide a lost call.',
    twin: writesInside,
    async attack(scene) {
      const key = await writeOnce(scene);
      const { ok } = await scene.call('write', { path: 'once.txt', content: 'another text\n' }, key);
      expect(scene.bytes('once.txt')?.toString() === 'by someone else\n', 'The other call was carried out');
      expect(!ok, 'The other call is answered with success');
    },
  },
  {
    id: 'idempotency.restart',
    needs: ['write', 'durable idempotency'],
    after: ['idempotency.repeat'],
    tries: 'sends the same write with the same key to a server that was killed and started again',
    wrong: 'it is carried out a second time',
    why: 'The answer is lost most often when the server crashed.',
    twin: writesInside,
    async attack(scene) {
      const key = await writeOnce(scene);
      await scene.kill();
      await repeatMustDoNothing(scene, key);
    },
  },
];
