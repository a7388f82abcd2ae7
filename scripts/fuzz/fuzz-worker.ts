/**
 * The thread in which a target runs, so that a case that hangs can be ended from outside. Before each case its input
 * goes on the board; what is thrown is a finding, which is made smaller here and told.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { CaseBoard } from './case-board.ts';
import { type FuzzFinding, findingOf, signatureOf } from './finding.ts';
import type { FuzzCatalog, FuzzTarget, OpenTarget } from './fuzz-target.ts';
import { InputSource, readSeeds } from './input-source.ts';
import { judgeGrowth } from './judge-growth.ts';
import { minimise } from './minimise.ts';
import { createRandom } from './seeded-random.ts';
import type { WorkerOrder, WorkerWord } from './worker-order.ts';

const REPORT_EVERY_MS = 500;
const GROWTH_EVERY = 25;
const MINIMISING = { tries: 4_000, seconds: 5 };

class Run {
  readonly #order: WorkerOrder;
  readonly #target: FuzzTarget;
  readonly #open: OpenTarget;
  readonly #board: CaseBoard;
  readonly #known = new Set<string>();
  readonly #outcomes: Record<string, number> = {};
  readonly #random;
  #cases = 0;
  #slowestMs = 0;
  #slowest = Buffer.alloc(0);

  constructor(order: WorkerOrder, target: FuzzTarget, open: OpenTarget) {
    this.#order = order;
    this.#target = target;
    this.#open = open;
    this.#board = new CaseBoard(order.memory);
    this.#random = createRandom(order.seed);
  }

  async all(): Promise<void> {
    const { cases, seconds, seed, seedFolder, skipped } = this.#order;
    const source = new InputSource(this.#target, seed, readSeeds(seedFolder));
    const end = performance.now() + seconds * 1000;
    let nextReport = performance.now() + REPORT_EVERY_MS;
    while (this.#cases < cases && performance.now() < end) {
      const input = source.next();
      if (skipped.some((known) => input.equals(known))) continue;
      const outcome = await this.one(input);
      if (outcome !== undefined) source.learn(input, outcome);
      if (performance.now() > nextReport) {
        this.report({ isDone: false });
        nextReport = performance.now() + REPORT_EVERY_MS;
        // Timers and streams of earlier cases want their turn as well.
        await new Promise(setImmediate);
      }
    }
  }

  /** Undefined when it failed. */
  async one(input: Buffer): Promise<string | undefined> {
    this.#cases += 1;
    const start = performance.now();
    try {
      const outcome = await this.#check(input);
      this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1;
      this.#noteTime(input, performance.now() - start);
      if (this.#order.judgesTime && this.#cases % GROWTH_EVERY === 0) this.#measure(input);
      return outcome;
    } catch (thrown) {
      await this.#tell(thrown, input);
      return undefined;
    }
  }

  report({ isDone }: { readonly isDone: boolean }): void {
    const [cases, outcomes, slowestMs, slowest] = [this.#cases, this.#outcomes, this.#slowestMs, this.#slowest];
    say({ type: 'report', report: { cases, outcomes, slowestMs, slowest }, isDone });
  }

  async #check(input: Buffer): Promise<string> {
    this.#board.begin(input);
    try {
      const outcome = this.#open.check(input);
      return typeof outcome === 'string' ? outcome : await outcome;
    } finally {
      this.#board.end();
    }
  }

  #noteTime(input: Buffer, ms: number): void {
    if (ms <= this.#slowestMs) return;
    this.#slowestMs = ms;
    this.#slowest = Buffer.from(input);
  }

  #measure(input: Buffer): void {
    const { measure } = this.#open;
    if (measure === undefined) return;
    this.#board.begin(input);
    const { maxBytes } = this.#target;
    const growth = judgeGrowth({ input, random: this.#random, maxBytes, measure: (bytes) => measure(bytes) });
    this.#board.end();
    if (growth === undefined) return;
    const message = `${growth.shortMs.toFixed(1)} ms became ${growth.longMs.toFixed(1)} ms with ten times the input`;
    this.#post({ kind: 'slow', signature: 'grows out of proportion', message, input: growth.input });
  }

  async #tell(thrown: unknown, input: Buffer): Promise<void> {
    const signature = signatureOf(thrown);
    if (this.#known.has(signature)) return;
    this.#known.add(signature);
    // What is run again is shown as it is.
    if (this.#order.only !== undefined) {
      this.#post(findingOf(thrown, input));
      return;
    }
    const least = await minimise(Buffer.from(input), {
      ...MINIMISING,
      fails: async (shorter) => (await this.#signature(shorter)) === signature,
    });
    this.#post(findingOf(await this.#thrownBy(least, thrown), least));
  }

  async #signature(input: Buffer): Promise<string | undefined> {
    const thrown = await this.#thrownBy(input, undefined);
    return thrown === undefined ? undefined : signatureOf(thrown);
  }

  async #thrownBy(input: Buffer, otherwise: unknown): Promise<unknown> {
    try {
      await this.#check(input);
      return otherwise;
    } catch (thrown) {
      return thrown;
    }
  }

  #post(finding: FuzzFinding): void {
    say({ type: 'finding', finding });
  }
}

function say(word: WorkerWord): void {
  parentPort?.postMessage(word);
}

// A case that waits for nothing at all would let the thread end; it is to be seen waiting.
setInterval(() => {}, 1_000);
const order = workerData as WorkerOrder;
const { FUZZ_TARGETS } = (await import(order.catalog)) as { FUZZ_TARGETS: FuzzCatalog };
const load = FUZZ_TARGETS[order.target];
if (load === undefined) throw new TypeError(`No such target: ${order.target}`);
const target = await load();
const open = await target.open();
const run = new Run(order, target, open);
if (order.only === undefined) await run.all();
else await run.one(Buffer.from(order.only));
await open.close?.();
// What a case left running may still fail.
for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate);
run.report({ isDone: true });
