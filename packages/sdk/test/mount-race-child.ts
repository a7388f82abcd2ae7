/**
 * Sandboxes are started while another process swaps a folder on the way to their mounts for a link to outside, as fast
 * as it can. Prints one line of JSON: how many saw what, with the check of mounts and, until one is fooled, without.
 */
import { mkdirSync, readdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createSpawner } from '../src/platform/processes/spawner.ts';
import { isIntact, lookInside, openMountScene, type Scene, SECRET, unverified } from './mount-scene.ts';
import { startAttacker } from './swapping-attacker.ts';

const [base = '', user = '', count = ''] = process.argv.slice(2);
const spawner = createSpawner({ backend: 'native' });
if (process.getuid?.() === 0 && Number(user) !== 0) {
  process.setgroups?.([]);
  process.setgid?.(Number(user));
  process.setuid?.(Number(user));
}

const AT_ONCE = 4;
const NAIVE_ROUNDS = 500;
/** A new attacker each time: on a busy machine one may swap in step with the starts and never hit the gap. */
const MAX_ATTACKERS = 8;

/** Where the swapped folder lies: above everything that is mounted, or inside the workspace above what is protected. */
const RACES = { 'above all mounts': '', 'inside the workspace': 'ws' } as const;

type Answers = Record<string, number>;

/** A refusal before bubblewrap is started takes no time, so rounds are counted by sandboxes that were set up. */
async function race(given: Scene, { rounds, isVerified }: { rounds: number; isVerified: boolean }): Promise<Answers> {
  const answers: Answers = { started: 0 };
  const count = (answer: string): void => {
    answers[answer] = (answers[answer] ?? 0) + 1;
  };
  const spawn: Scene['spawner']['spawn'] = (options) => {
    count('started');
    return spawner.spawn(options);
  };
  const scene = { ...given, spawner: { ...spawner, spawn } };
  while ((answers['started'] ?? 0) < rounds && (isVerified || answers[SECRET] === undefined)) {
    const starts = Array.from({ length: AT_ONCE }, () => lookInside(scene, isVerified ? undefined : unverified));
    for (const saw of await Promise.all(starts)) count(judge(saw));
  }
  return answers;
}

function judge(saw: string): string {
  if (saw.includes(SECRET)) return SECRET;
  if (/INSIDE \S*(?:token|key)\.txt/.test(saw)) return 'hidden';
  return saw.startsWith('refused') ? saw : saw.includes('RAN') ? 'ran' : 'strange';
}

/** `folder` is the tree that is mounted, `trap` the link it is swapped for. */
async function play(name: keyof typeof RACES, isVerified: boolean, rounds: number, attempt = 1): Promise<Answers> {
  const place = join(base, `${name} ${isVerified} ${attempt}`);
  mkdirSync(place);
  const inner = RACES[name];
  const names = inner === '' ? { open: 'folder', protecting: 'conf' } : { open: 'open', protecting: 'folder' };
  const scene = await openMountScene(join(place, 'scene'), spawner, names);
  const arena = inner === '' ? scene.base : join(scene.open, inner);
  symlinkSync(inner === '' ? 'outside' : '../../outside/ws/folder', join(arena, 'trap'));
  const stop = await startAttacker(arena);
  const answers = await race(scene, { rounds, isVerified });
  await stop();
  // The attacker may have stopped with the two exchanged.
  if (readdirSync(arena, { withFileTypes: true }).some((entry) => entry.name === 'folder' && entry.isSymbolicLink())) {
    renameSync(join(arena, 'folder'), join(arena, 'spare'));
    renameSync(join(arena, 'trap'), join(arena, 'folder'));
  }
  if (!isIntact(scene)) answers['damage'] = (answers['damage'] ?? 0) + 1;
  // Few starts hit the moment between two swaps; with the attacker gone every start does.
  if (isVerified) answers['ran afterwards'] = judge(await lookInside(scene)) === 'ran' ? 1 : 0;
  return answers;
}

async function untilFooled(name: keyof typeof RACES): Promise<Answers> {
  let answers: Answers = {};
  for (let attempt = 1; attempt <= MAX_ATTACKERS && answers[SECRET] === undefined; attempt += 1) {
    answers = await play(name, false, NAIVE_ROUNDS, attempt);
  }
  return answers;
}

const report: Record<string, { verified: Answers; naive: Answers }> = {};
for (const name of Object.keys(RACES) as (keyof typeof RACES)[]) {
  report[name] = {
    naive: await untilFooled(name),
    verified: await play(name, true, Number(count)),
  };
}
process.stdout.write(JSON.stringify({ uid: process.getuid?.(), report }));
