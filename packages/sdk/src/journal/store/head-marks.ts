/** What a mark says and how it is written: one line of JSON and a keyed digest of it. */
import type { ChainHead, Instance } from '../../contracts/journal.ts';
import type { Durability } from '../../contracts/registry.ts';
import { createKeyedDigest } from '../../platform/digest.ts';
import type { MarkFiles } from '../../platform/state/mark-files.ts';

export interface HeadMark {
  readonly writer: Instance;
  readonly durability: Durability;
  /** False while the writer may add records that are not on the disk yet. */
  readonly clean: boolean;
  /** Up to here the journal was on the disk. */
  readonly head: ChainHead;
  readonly at_ms: number;
  /** Counts the marks of a writer. */
  readonly turn: number;
}

export interface FoundMark {
  readonly name: string;
  /** Undefined when neither slot can be believed: damaged, or not written with the key. */
  readonly mark: HeadMark | undefined;
}

export interface MarkFormat {
  write(mark: HeadMark): string;
  /** Undefined when the line is torn or was not written with the key. */
  read(line: string): HeadMark | undefined;
}

export function createMarkFormat(masterKey: Uint8Array): MarkFormat {
  const digest = createKeyedDigest(masterKey, 'tool-runtime journal heads v1');
  return {
    write(mark) {
      const text = JSON.stringify(mark);
      return `${digest(text)} ${text}`;
    },
    read(line) {
      const text = line.slice(DIGEST_LENGTH + 1);
      return digest(text) === line.slice(0, DIGEST_LENGTH) ? (JSON.parse(text) as HeadMark) : undefined;
    },
  };
}

const DIGEST_LENGTH = 64;

/** The newest mark of every file. */
export function readMarks(files: MarkFiles, format: MarkFormat): readonly FoundMark[] {
  return files.read().map(({ name, slots }) => {
    const marks = slots.flatMap((line) => format.read(line) ?? []);
    return { name, mark: marks.sort((one, other) => other.turn - one.turn)[0] };
  });
}

/** Of a mark that was found not to be part of the chain and is kept as evidence. */
export const LOST_SUFFIX = '.lost';
