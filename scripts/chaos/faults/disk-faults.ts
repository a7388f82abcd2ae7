/** Disks that are full, read-only or slow. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Disk } from '../stage/disks.ts';
import type { ChaosStage } from '../stage/open-stage.ts';
import { between, type Fault, type FaultContext } from './fault.ts';

const NEEDS_ROOT = 'needs root, to mount a small disk';
/** Nothing at all, or a little less than what is wanted next. */
const SPARE_BYTES = [0, 4096, 64 * 1024];

function filling(name: string, diskOf: (stage: ChaosStage) => Disk): Fault {
  return {
    name,
    scope: 'host',
    weight: 3,
    missing: (stage) => (diskOf(stage).faults === undefined ? NEEDS_ROOT : undefined),
    async inject({ stage, timeLine, random }) {
      const { faults } = diskOf(stage);
      const spareBytes = random.pick(SPARE_BYTES);
      const end = timeLine.begin(name, `${spareBytes} bytes free`);
      faults?.fill(spareBytes);
      await pause(between(random, 500, 3000));
      faults?.empty();
      end();
      return true;
    },
  };
}

export const fullState = filling('full-state', (stage) => stage.stateDisk);
export const fullWorkspace = filling('full-workspace', (stage) => stage.workspaceDisk);

/** Killed while it is full; the next one may refuse to start, and must start once there is room. */
export const killWhileFull: Fault = {
  name: 'kill-while-full',
  scope: 'host',
  isDeadly: true,
  weight: 2,
  missing: ({ stateDisk }) => (stateDisk.faults === undefined ? NEEDS_ROOT : undefined),
  async inject(context) {
    const { stage, timeLine, random, keeper } = context;
    const disk = random.pick([stage.stateDisk, stage.workspaceDisk]);
    const end = timeLine.begin('kill-while-full', disk === stage.stateDisk ? 'state' : 'workspace');
    disk.faults?.fill(0);
    await pause(between(random, 50, 500));
    await keeper.kill();
    await refuseOrStart(context);
    disk.faults?.empty();
    await keeper.start();
    end();
    return true;
  },
};

/** The state of a host that starts cannot be written: it has to say so and to end. */
export const readOnlyState: Fault = {
  name: 'read-only-state',
  scope: 'host',
  isDeadly: true,
  weight: 1,
  missing: ({ stateDisk }) => (stateDisk.faults === undefined ? NEEDS_ROOT : undefined),
  async inject(context) {
    const { stage, timeLine, keeper, violations } = context;
    const end = timeLine.begin('read-only-state', 'at a start');
    await keeper.kill();
    if (stage.stateDisk.faults?.makeReadOnly() === true) {
      const isRefused = await refuseOrStart(context);
      if (!isRefused) violations.add('host starts although its state cannot be written');
    }
    stage.stateDisk.faults?.makeWritable();
    await keeper.start();
    end();
    return true;
  },
};

/** Whether it refused. A refusal is an exit code and a sentence; a stack is neither. */
async function refuseOrStart({ keeper, violations }: FaultContext): Promise<boolean> {
  const failed = await keeper.tryStart();
  if (failed === undefined) return false;
  const isClear = failed.end.code !== null && failed.said.trim() !== '' && !/^\s+at /m.test(failed.said);
  if (!isClear) violations.add(`refused start is not clear: ${failed.end.code} ${failed.said.slice(0, 800)}`);
  return true;
}

export const readOnlyWorkspace: Fault = {
  name: 'read-only-workspace',
  scope: 'host',
  weight: 3,
  missing: ({ workspaceDisk }) => (workspaceDisk.faults === undefined ? NEEDS_ROOT : undefined),
  async inject({ stage, timeLine, random }) {
    const { faults } = stage.workspaceDisk;
    if (faults === undefined || !(await eventuallyReadOnly(faults.makeReadOnly))) return false;
    const end = timeLine.begin('read-only-workspace', 'remounted');
    await pause(between(random, 300, 2000));
    faults.makeWritable();
    end();
    return true;
  },
};

/** Refused by the kernel while a file is open for writing, which here is nearly always for a moment only. */
async function eventuallyReadOnly(makeReadOnly: () => boolean): Promise<boolean> {
  for (let attempt = 0; attempt < 100; attempt++) {
    if (makeReadOnly()) return true;
    await pause(10);
  }
  return false;
}

export const slowDisk: Fault = {
  name: 'slow-disk',
  scope: 'host',
  weight: 2,
  async inject({ keeper, timeLine, random }) {
    const diskDelayMs = between(random, 5, 60);
    const end = timeLine.begin('slow-disk', `up to ${diskDelayMs} ms a write`);
    keeper.set({ diskDelayMs });
    await pause(between(random, 1000, 4000));
    keeper.set({ diskDelayMs: 0 });
    end();
    return true;
  },
};
