/**
 * Where inputs come from: the seeds as they are first, then mutations of them and of whatever led somewhere new, and
 * inputs made by the target's own arbitrary. The same seed gives the same inputs, as long as the checks say the same.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { FuzzTarget } from './fuzz-target.ts';
import { type MutationSource, mutate } from './mutate.ts';
import { below, createRandom, pick, type Random } from './seeded-random.ts';

const MAX_KEPT = 400;
const BATCH = 64;
/** Of inputs that are not seeds, where the target makes some itself. */
const MADE_SHARE = 0.45;

export class InputSource {
  readonly #target: FuzzTarget;
  readonly #random: Random;
  readonly #seeds: readonly Buffer[];
  readonly #kept: Buffer[] = [];
  readonly #known = new Set<string>();
  readonly #mutation: MutationSource;
  #made: Buffer[] = [];
  #given = 0;

  constructor(target: FuzzTarget, seed: number, seeds: readonly Buffer[]) {
    this.#target = target;
    this.#random = createRandom(seed);
    this.#seeds = seeds;
    this.#mutation = {
      random: this.#random,
      tokens: target.tokens.map((token) => Buffer.from(token)),
      other: () => this.#old(),
    };
  }

  next(): Buffer {
    const seed = this.#seeds[this.#given++];
    const input = seed ?? this.#new();
    return input.subarray(0, this.#target.maxBytes);
  }

  /** Inputs that led where none did before are worth another look. */
  learn(input: Buffer, outcome: string): void {
    if (this.#known.has(outcome)) return;
    this.#known.add(outcome);
    if (this.#kept.length < MAX_KEPT) this.#kept.push(Buffer.from(input));
    else this.#kept[below(this.#random, MAX_KEPT)] = Buffer.from(input);
  }

  #new(): Buffer {
    const { inputs } = this.#target;
    if (inputs === undefined || this.#random() >= MADE_SHARE) return mutate(this.#old(), this.#mutation);
    const made = this.#make(inputs);
    return this.#random() < 0.7 ? made : mutate(made, this.#mutation);
  }

  #make(inputs: fc.Arbitrary<string | Uint8Array>): Buffer {
    if (this.#made.length === 0) {
      const made = fc.sample(inputs, { numRuns: BATCH, seed: below(this.#random, 2 ** 31) });
      this.#made = made.map((input) => Buffer.from(input as Uint8Array));
    }
    return this.#made.pop() ?? Buffer.alloc(0);
  }

  #old(): Buffer {
    const isKept = this.#kept.length > 0 && this.#random() < 0.5;
    const from = isKept ? this.#kept : this.#seeds;
    return from.length === 0 ? Buffer.alloc(0) : pick(this.#random, from);
  }
}

/** In the order of their names, so that a run does not depend on the file system. */
export function readSeeds(folder: string): readonly Buffer[] {
  return readdirSync(folder)
    .toSorted()
    .map((name) => readFileSync(join(folder, name)));
}
