/** What a fuzz target is. Inputs are bytes, so that every target shares mutations, seeds, crash files and minimising. */
import type fc from 'fast-check';

export interface FuzzTarget {
  readonly name: string;
  /** What must hold for every input, in one line. */
  readonly holds: string;
  /** Longer inputs are cut. */
  readonly maxBytes: number;
  /** Pieces that mean something to the code under test; they are spliced into inputs. */
  readonly tokens: readonly string[];
  /** Inputs that are in form more often than mutations of seeds are. */
  readonly inputs?: fc.Arbitrary<string | Uint8Array>;
  open(): OpenTarget | Promise<OpenTarget>;
}

export interface OpenTarget {
  /**
   * Throws when something does not hold. Otherwise says in a few words what became of the input; one with new words is
   * kept and mutated further, so they should be few: what was found, never what the input says.
   */
  check(input: Buffer): string | Promise<string>;
  /** The bare work, where its time must not grow much faster than the input. */
  measure?(input: Buffer): void;
  close?(): void | Promise<void>;
}

/** Loads the targets one by one: a worker needs only its own. */
export type FuzzCatalog = Readonly<Record<string, () => Promise<FuzzTarget>>>;
