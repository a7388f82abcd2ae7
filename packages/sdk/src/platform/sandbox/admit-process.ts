/** Lets a program start in its sandbox only when the sandbox was looked at: bubblewrap waits at the gate until then. */
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { ToolError } from '@tool-runtime/protocol';
import { failure } from '../../contracts/failures.ts';
import type { SpawnedProcess } from '../processes/spawned-process.ts';
import { numberIn } from './bubblewrap-report.ts';

/** Descriptors 3, 4 and 5 of bubblewrap, and the words that name the first two. The last one is named by mounts. */
export const ADMISSION_FDS = ['pipe', 'gate', 'pause'] as const;
export const ADMISSION_WORDS = ['--json-status-fd', '3', '--block-fd', '4'];

const LOOK_MS = 1;
const GIVE_UP_MS = 30_000;

export interface Admission {
  /** All that bubblewrap reported. */
  readonly report: Promise<string>;
  /** Rejects with E_POLICY when the program must not start; the process is killed then. */
  readonly admitted: Promise<void>;
}

/** Each answers false while the sandbox is being set up, and throws when it must not be used. */
export interface Verification {
  /** Before mounts whose place others can change, where there are any. */
  readonly early: (init: number) => boolean;
  readonly all: (init: number) => boolean;
}

export function admitProcess(process: SpawnedProcess, verification: Verification): Admission {
  const { promise: init, resolve } = Promise.withResolvers<number | undefined>();
  const report = readReport(process.extra[0], resolve);
  const admitted = admit(process, init, verification);
  admitted.catch(() => {});
  return { report, admitted };
}

async function admit(
  process: SpawnedProcess,
  reported: Promise<number | undefined>,
  { early, all }: Verification,
): Promise<void> {
  const { pause, gate } = process;
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  process.exited.then(over, over);
  try {
    const init = await reported;
    // How it ended is told by its report.
    if (init === undefined) return;
    if (pause !== undefined) await until(() => isOver || early(init));
    pause?.open();
    await until(() => isOver || all(init));
    if (!isOver) gate?.open();
  } catch (thrown) {
    // First the kill: a gate that closes may let bubblewrap go on.
    process.kill('SIGKILL');
    throw thrown;
  } finally {
    pause?.close();
    gate?.close();
  }
}

async function until(isDone: () => boolean): Promise<void> {
  for (let waited = 0; !isDone(); waited += LOOK_MS) {
    if (waited >= GIVE_UP_MS) throw notSetUp();
    await delay(LOOK_MS);
  }
}

async function readReport(stream: Readable | undefined, onInit: (init: number | undefined) => void): Promise<string> {
  let report = '';
  try {
    for await (const chunk of stream ?? []) {
      report += String(chunk);
      const init = numberIn(report, 'child-pid');
      if (init !== undefined) onInit(init);
    }
  } finally {
    onInit(undefined);
  }
  return report;
}

function notSetUp(): ToolError {
  return failure('isolation_failure', 'retryable', 'Sandbox was not set up in time', {
    details: { reason: 'mount_unverified', next: 'try again when the machine is less busy' },
  });
}
