/** Lets a program start in its sandbox only when the sandbox was looked at: bubblewrap waits at the gate until then. */
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { ToolError } from '@tool-runtime/protocol';
import { failure } from '../contracts/failures.ts';
import { numberIn } from './bubblewrap-report.ts';
import type { SpawnedProcess } from './spawned-process.ts';

/** Descriptors 3 and 4 of bubblewrap, and the words that name them. */
export const ADMISSION_FDS = ['pipe', 'gate'] as const;
export const ADMISSION_WORDS = ['--json-status-fd', '3', '--block-fd', '4'];

const LOOK_MS = 1;
const GIVE_UP_MS = 30_000;

export interface Admission {
  /** All that bubblewrap reported. */
  readonly report: Promise<string>;
  /** Rejects with E_POLICY when the program must not start; the process is killed then. */
  readonly admitted: Promise<void>;
}

/** `verify` answers false while the sandbox is being set up, and throws when it must not be used. */
export function admitProcess(process: SpawnedProcess, verify: (init: number) => boolean): Admission {
  const { promise: init, resolve } = Promise.withResolvers<number | undefined>();
  const report = readReport(process.extra[0], resolve);
  const admitted = admit(process, init, verify);
  admitted.catch(() => {});
  return { report, admitted };
}

async function admit(
  process: SpawnedProcess,
  reported: Promise<number | undefined>,
  verify: (init: number) => boolean,
): Promise<void> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  process.exited.then(over, over);
  try {
    const init = await reported;
    if (init === undefined) return process.gate?.close();
    for (let waited = 0; !verify(init); waited += LOOK_MS) {
      // How it ended is told by its report.
      if (isOver) return process.gate?.close();
      if (waited >= GIVE_UP_MS) throw notSetUp();
      await delay(LOOK_MS);
    }
    process.gate?.open();
  } catch (thrown) {
    // First the kill: a gate that closes may let bubblewrap go on.
    process.kill('SIGKILL');
    process.gate?.close();
    throw thrown;
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
