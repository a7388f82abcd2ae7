/** A server that is killed in the middle of a write leaves the old file or the new one, and nothing else. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Scene } from '../scene/scene.ts';
import { ServerGone } from '../server/line-process.ts';
import { type Case, expect, shown } from './case.ts';
import { writesInside } from './twins.ts';

/** Large enough to take a while, and small enough for the limits of most servers. */
const SIZE = 768 * 1024;
const OLD = 'old old\n'.repeat(SIZE / 8);
const NEW = 'new new\n'.repeat(SIZE / 8 + 1024);

/**
 * Starts a write and kills the server: in every other round as soon as something in the workspace changes, in the others
 * some turns later or earlier. Returns whether the write was answered before.
 */
async function killInWrite(scene: Scene, round: number): Promise<boolean> {
  scene.put('big.txt', OLD);
  const look = (): string => {
    const { size, ino, mtimeMs } =
      statSync(path.join(scene.stage.workspace, 'big.txt'), { throwIfNoEntry: false }) ?? {};
    return `${size} ${ino} ${mtimeMs} ${scene.names().join('/')}`;
  };
  const before = look();
  const { answer } = await scene.start('write', { path: 'big.txt', content: NEW });
  let state: 'open' | 'answered' | 'refused' = 'open';
  const done = answer.then(
    ({ ok, text }) => {
      state = ok ? 'answered' : 'refused';
      expect(ok, `The write is refused: ${shown(text)}`);
    },
    (cause: unknown) => {
      if (!(cause instanceof ServerGone)) throw cause;
    },
  );
  done.catch(() => {});
  const isOpen = (): boolean => state === 'open';
  for (let turns = round % 2 === 0 ? Number.POSITIVE_INFINITY : round * 8; turns > 0 && isOpen(); turns -= 1) {
    if (look() !== before) break;
    await nextTurn();
  }
  const answered = !isOpen();
  await scene.kill();
  await done;
  return answered;
}

export const crashes: readonly Case[] = [
  {
    id: 'crashes.torn',
    needs: ['write'],
    tries: 'kills the server with SIGKILL in the middle of several writes, at different moments',
    wrong: 'the file is cut, mixed or gone',
    why: 'Half a file compiles sometimes, and the other half of the work is lost.',
    twin: writesInside,
    async attack(scene) {
      for (let round = 0; round < scene.effort.kills; round += 1) {
        const answered = await killInWrite(scene, round);
        const now = scene.bytes('big.txt')?.toString();
        expect(
          now === NEW || (now === OLD && !answered),
          `After kill ${round + 1} the file has ${now?.length ?? 'no'} bytes`,
        );
      }
    },
  },
  {
    id: 'crashes.leftovers',
    needs: ['write'],
    tries: 'kills the server in the middle of several writes and starts it again',
    wrong: 'temporary files stay in the workspace',
    why: 'They are committed, searched and packed, and some hold text that was never meant to stay.',
    twin: writesInside,
    async attack(scene) {
      for (let round = 0; round < scene.effort.kills; round += 1) await killInWrite(scene, round);
      await scene.close();
      await writesInside(scene);
      const left = scene.names().filter((name) => name !== 'big.txt' && name !== 'written.txt');
      expect(left.length === 0, `Left in the workspace: ${left.join(', ')}`);
    },
  },
  {
    id: 'crashes.acknowledged',
    needs: ['write'],
    tries: 'kills the server right after it answered a write, and starts it again',
    wrong: 'the write is undone or lost',
    why: 'An answer is a promise; the agent goes on from there.',
    twin: writesInside,
    async attack(scene) {
      for (const content of ['first\n', 'second\n', 'third\n']) {
        const { ok, text } = await scene.call('write', { path: 'kept.txt', content });
        expect(ok, `The write is refused: ${shown(text)}`);
        await scene.kill();
        await writesInside(scene);
        expect(scene.bytes('kept.txt')?.toString() === content, `The file says ${shown(scene.bytes('kept.txt'))}`);
      }
    },
  },
];
