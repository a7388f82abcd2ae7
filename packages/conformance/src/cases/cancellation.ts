/** Cancelling a call ends what it started. */
import { awaitMarked, findMarked } from '../scene/processes.ts';
import type { RunningCall, Scene } from '../scene/scene.ts';
import { type Case, expect } from './case.ts';
import { runsEcho } from './twins.ts';

/** Only a process that does not start, or does not end, reaches this. */
const WAIT_MS = 20_000;

interface Started {
  readonly mark: string;
  readonly call: RunningCall;
}

/** Runs a command with a sleep in it, and waits until that is in the process table. */
async function startSleep(scene: Scene, command: (mark: string) => string): Promise<Started> {
  const mark = scene.mark();
  const call = await scene.start('run', { command: command(mark) });
  call.answer.catch(() => {});
  const isRunning = await awaitMarked(mark, 'running', WAIT_MS);
  expect(isRunning, 'The command does not run');
  return { mark, call };
}

async function mustEnd(mark: string, after: string): Promise<void> {
  const isGone = await awaitMarked(mark, 'gone', WAIT_MS);
  expect(isGone, `Process ${findMarked(mark)[0]} still runs after ${after}`);
}

export const cancellation: readonly Case[] = [
  {
    id: 'cancellation.process',
    needs: ['run', 'program sleep', 'commands that end with their answer'],
    tries: 'cancels a call whose command runs',
    wrong: 'the process goes on',
    why: 'People cancel because something goes wrong; it must really stop.',
    twin: runsEcho,
    async attack(scene) {
      const { mark, call } = await startSleep(scene, (seconds) => `sleep ${seconds}`);
      call.cancel();
      await mustEnd(mark, 'the call was cancelled');
      await runsEcho(scene);
    },
  },
  {
    id: 'cancellation.tree',
    needs: ['run', 'program sh', 'program sleep', 'commands that end with their answer'],
    after: ['cancellation.process'],
    tries: 'cancels a call whose command started other processes',
    wrong: 'only the first process ends',
    why: 'Builds and test runs are trees of processes; the leaves do the work.',
    twin: runsEcho,
    async attack(scene) {
      const { mark, call } = await startSleep(scene, (seconds) => `sh -c 'sleep ${seconds} & wait'`);
      call.cancel();
      await mustEnd(mark, 'the call was cancelled');
      await runsEcho(scene);
    },
  },
  {
    id: 'cancellation.disconnect',
    needs: ['run', 'program sleep'],
    tries: 'closes the connection while a command runs',
    wrong: 'the process goes on after the server ended',
    why: 'Editors are closed and laptops shut; what stays behind uses the machine until the next restart.',
    twin: runsEcho,
    async attack(scene) {
      const { mark } = await startSleep(scene, (seconds) => `sleep ${seconds}`);
      await scene.close();
      await mustEnd(mark, 'the server ended');
    },
  },
];
