/**
 * Every mount of a sandbox against every way to swap its path between the check and the mount, at every moment that could
 * make a difference. Runs in a process of its own, as root or as a user without privileges. Prints one line of JSON: for
 * each case what a program inside saw, and for some of them what it saw without the check of mounts.
 */
import {
  cpSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { Sandbox } from '../src/contracts/commands.ts';
import { createSpawner } from '../src/platform/processes/spawner.ts';
import { verifyEarlyMounts, verifyMounts } from '../src/platform/sandbox/verify-mounts.ts';
import { isIntact, lookInside, openMountScene, type Scene, unverified } from './mount-scene.ts';

const [base = '', user = ''] = process.argv.slice(2);
const native = createSpawner({ backend: 'native' });
if (process.getuid?.() === 0 && Number(user) !== 0) {
  process.setgroups?.([]);
  process.setgid?.(Number(user));
  process.setuid?.(Number(user));
}

/** Each path below the open tree that is the source or destination of a mount. */
const TARGETS = [
  'ws',
  'ws/.git',
  'ws/conf',
  'ws/conf/deep',
  'ws/conf/deep/registry.yaml',
  'ws/conf/token.txt',
  'ws/run',
  'ws/run/secrets',
  'lent',
  'lent/read',
  'lent/write',
  'lent/judged',
  'shown',
  'shown/tools',
];

/** Each puts something else at the path and answers how to undo it. */
type Swap = (path: string, outside: string) => () => void;

function moved(path: string): () => void {
  renameSync(path, `${path}-aside`);
  return () => {
    // Where there was nothing, bubblewrap has made an empty place to mount on, in the workspace.
    rmSync(path, { recursive: true, force: true });
    renameSync(`${path}-aside`, path);
  };
}

const HARD_LINK = 'another name of a file outside';

const SWAPS: Readonly<Record<string, Swap>> = {
  'nothing at all': () => () => {},
  'a link to outside': (path, outside) => {
    const back = moved(path);
    symlinkSync(outside, path);
    return () => {
      unlinkSync(path);
      back();
    };
  },
  'a relative link to outside': (path, outside) => {
    const back = moved(path);
    symlinkSync(relative(dirname(path), outside), path);
    return () => {
      unlinkSync(path);
      back();
    };
  },
  'a relative link to an empty folder outside': (path, outside) => {
    const [back, empty] = [moved(path), `${outside}-empty`];
    mkdirSync(empty);
    symlinkSync(relative(dirname(path), empty), path);
    return () => {
      unlinkSync(path);
      back();
      // What was made in it stays to be found.
      if (readdirSync(empty).length === 0) rmdirSync(empty);
    };
  },
  'a link into the root that bubblewrap works from': (path, outside) => {
    const back = moved(path);
    symlinkSync(join('/oldroot', outside), path);
    return () => {
      unlinkSync(path);
      back();
    };
  },
  'a link to a new name outside, by the way bubblewrap sees it': (path, outside) => {
    const back = moved(path);
    symlinkSync(join('/oldroot', dirname(outside), 'planted.txt'), path);
    return () => {
      unlinkSync(path);
      back();
    };
  },
  'a link to a neighbour': (path) => {
    const back = moved(path);
    symlinkSync(`${path}-aside`, path);
    return () => {
      unlinkSync(path);
      back();
    };
  },
  'a relative link to something beside it': (path) => {
    const back = moved(path);
    const beside = `${path}-beside`;
    if (lstatSync(`${path}-aside`).isDirectory()) cpSync(`${path}-aside`, beside, { recursive: true });
    else writeFileSync(beside, '');
    symlinkSync(basename(beside), path);
    return () => {
      unlinkSync(path);
      rmSync(beside, { recursive: true });
      back();
    };
  },
  'something else of the same kind': (path, outside) => {
    const back = moved(path);
    renameSync(outside, path);
    return () => {
      renameSync(path, outside);
      back();
    };
  },
  'nothing: it is renamed': (path) => moved(path),
  [HARD_LINK]: (path, outside) => {
    const back = moved(path);
    linkSync(outside, path);
    return () => {
      unlinkSync(path);
      back();
    };
  },
};

/**
 * `stays`: swapped before anything is mounted, and left so. `before`: put back before mounts are looked at. `between`:
 * swapped when the first mounts were found right, and put back before the others are looked at.
 */
type Moment = 'stays' | 'before' | 'between';

/** Those that are also left in place; the others make no difference then. */
const STAYING = [
  'a link to outside',
  'a relative link to an empty folder outside',
  'something else of the same kind',
  'nothing: it is renamed',
];

interface Attack {
  readonly target: string;
  readonly swap: Swap;
  readonly moment: Moment;
}

/** Strikes when everything was checked on the host, and nothing or not everything is mounted. */
async function attack(scene: Scene, { target, swap, moment }: Attack, isVerified: boolean): Promise<string> {
  let undo = () => {};
  const strike = (): void => {
    undo = swap(join(scene.open, target), join(scene.outside, target));
  };
  const putBack = (): void => {
    undo();
    undo = () => {};
  };
  const spawner: Scene['spawner'] = {
    ...native,
    spawn(options) {
      if (moment !== 'between') strike();
      return native.spawn(options);
    },
  };
  const change = (wall: Sandbox): Sandbox => {
    const judged = isVerified ? wall : unverified(wall);
    const verifyEarly = (init: number): boolean => {
      if (!verifyEarlyMounts(init, [])) return false;
      if (moment === 'before') putBack();
      const isRight = judged.verifyEarly(init);
      if (moment === 'between') strike();
      return isRight;
    };
    const verify = (init: number): boolean => {
      if (!verifyMounts(init, [])) return false;
      if (moment === 'between') putBack();
      return judged.verify(init);
    };
    return { ...judged, verify, verifyEarly };
  };
  try {
    return await lookInside({ ...scene, spawner }, change);
  } finally {
    putBack();
  }
}

const verified: Record<string, string> = {};
const naive: Record<string, string> = {};

async function attackAll(scene: Scene, target: string): Promise<void> {
  for (const [name, swap] of Object.entries(SWAPS)) {
    if (name === HARD_LINK && !/\.(?:txt|yaml)$/.test(target)) continue;
    const moments: Moment[] = ['before'];
    if (STAYING.includes(name)) moments.push('stays');
    if (target.startsWith('ws/')) moments.push('between');
    for (const moment of moments) {
      const saw = await attack(scene, { target, swap, moment }, true);
      verified[`${target}: ${name}: ${moment}`] = isIntact(scene) ? saw : 'damage';
    }
  }
}

/** Only a place to mount on is missing where the link leads: bubblewrap would make it. */
async function attackWithOneFile(): Promise<void> {
  const scene = await openMountScene(join(base, 'one-file'), native);
  const protectedPaths = [{ path: join(scene.open, 'ws/own.txt'), access: 'hide' }] as const;
  const narrow: Scene = { ...scene, request: { ...scene.request, protectedPaths, folders: [] } };
  for (const [name, swap] of Object.entries(SWAPS)) {
    if (!name.includes('empty folder')) continue;
    const saw = await attack(narrow, { target: 'ws', swap, moment: 'stays' }, true);
    verified[`one hidden file: ${name}`] = isIntact(scene) ? saw : 'damage';
  }
}

async function attackNaive(target: string): Promise<void> {
  const scene = await openMountScene(join(base, `naive-${target.replaceAll('/', '-')}`), native);
  const swap = SWAPS['a link to outside'] as Swap;
  naive[target] = await attack(scene, { target, swap, moment: 'before' }, false);
}

/** Several scenes at a time, each with its share of the targets. */
const LANES = 4;
await Promise.all(
  Array.from({ length: LANES }, async (_, lane) => {
    const scene = await openMountScene(join(base, `verified-${lane}`), native);
    for (const [index, target] of TARGETS.entries()) if (index % LANES === lane) await attackAll(scene, target);
  }),
);
await attackWithOneFile();
for (const target of TARGETS) if (!target.startsWith('ws/')) await attackNaive(target);
process.stdout.write(JSON.stringify({ uid: process.getuid?.(), verified, naive }));
