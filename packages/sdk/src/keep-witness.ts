/** Tells a file outside of the state folder how far the journal is: now and then, and when it was closed. */
import { toToolError } from '@tool-runtime/protocol';
import type { ChainHead } from './contracts/journal.ts';
import { addToWitness, checkWitness, readWitness } from './platform/state/witness-file.ts';
import type { RuntimeParts } from './session/compile-session.ts';

/** A file that this user can only add to, or that lies on another machine, is worth most. */
export interface WitnessOptions {
  readonly file: string;
  /** Ten minutes unless given. */
  readonly everyMs?: number;
}

export interface Witness {
  /** What it has recorded of this journal. */
  heads(): readonly ChainHead[];
  /** When the journal is closed. */
  finish(): void;
}

const EVERY_MS = 600_000;

interface WitnessSetting {
  readonly parts: Pick<RuntimeParts, 'journal' | 'reportUnexpected'>;
  readonly state: string;
  readonly workspace: string;
}

/** Throws ToolError for a file in the workspace or the state folder. */
export function keepWitness(options: WitnessOptions | undefined, setting: WitnessSetting): Witness {
  if (options === undefined) return { heads: () => [], finish() {} };
  const { file, everyMs = EVERY_MS } = options;
  const { parts, state, workspace } = setting;
  checkWitness(file, [workspace, state]);
  let told = readWitness(file, state).at(-1)?.mac;
  // Only what is on the disk: a head that a power cut can take would look like a journal that was cut.
  const tell = (): void => {
    try {
      const head = parts.journal.syncedHead?.();
      if (head === undefined || head.mac === told) return;
      addToWitness(file, head, state);
      told = head.mac;
    } catch (thrown) {
      parts.reportUnexpected(toToolError(thrown));
    }
  };
  const timer = setInterval(tell, everyMs).unref();
  return {
    heads: () => readWitness(file, state),
    finish() {
      clearInterval(timer);
      tell();
    },
  };
}
