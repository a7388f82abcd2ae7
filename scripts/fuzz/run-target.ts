/**
 * One run of one target: starts its worker, ends a case that takes too long, and goes on with a new worker where one was
 * lost. Findings are written as files, so that they can be run again.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { CaseBoard } from './case-board.ts';
import { type FuzzFinding, signatureOf } from './finding.ts';
import { minimise } from './minimise.ts';
import type { WorkerOrder, WorkerReport, WorkerWord } from './worker-order.ts';

export interface TargetRun extends Omit<WorkerOrder, 'memory' | 'skipped'> {
  /** How long one case may take. */
  readonly limitMs: number;
  readonly crashFolder: string;
}

export interface TargetReport {
  readonly cases: number;
  readonly seconds: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly slowestMs: number;
  readonly findings: readonly KeptFinding[];
}

export interface KeptFinding extends FuzzFinding {
  readonly file: string;
}

const MAX_INPUT_BYTES = 1 << 21;
const LOOK_EVERY_MS = 50;
const WORKER_MEMORY_MB = 768;
const MAX_FINDINGS = 20;
/** A lost worker costs the limit and a start each time. */
const MINIMISING = { tries: 12, seconds: 60 };

export async function runTarget(run: TargetRun): Promise<TargetReport> {
  const start = performance.now();
  const findings = new Map<string, FuzzFinding>();
  const outcomes: Record<string, number> = {};
  const skipped: Uint8Array[] = [];
  let [cases, slowestMs] = [0, 0];
  for (;;) {
    const left = { cases: run.cases - cases, seconds: run.seconds - (performance.now() - start) / 1000 };
    const ended = await runWorker({ ...run, ...left, seed: run.seed + skipped.length, skipped });
    cases += ended.report.cases;
    slowestMs = Math.max(slowestMs, ended.report.slowestMs);
    for (const [name, count] of Object.entries(ended.report.outcomes)) outcomes[name] = (outcomes[name] ?? 0) + count;
    for (const finding of ended.findings)
      if (!findings.has(finding.signature)) findings.set(finding.signature, finding);
    if (ended.loss === undefined) break;
    skipped.push(ended.loss.input);
    const isNew = !findings.has(ended.loss.signature);
    if (isNew) findings.set(ended.loss.signature, await smallest(ended.loss, run));
    const isOver = cases >= run.cases || performance.now() - start >= run.seconds * 1000;
    if (isOver || findings.size >= MAX_FINDINGS || run.only !== undefined) break;
  }
  const kept = [...findings.values()].map((finding, index) => keep(finding, run, index));
  return { cases, seconds: (performance.now() - start) / 1000, outcomes, slowestMs, findings: kept };
}

interface WorkerEnd {
  readonly report: WorkerReport;
  readonly findings: readonly FuzzFinding[];
  /** The case that took the worker with it. */
  readonly loss: FuzzFinding | undefined;
}

async function runWorker(run: TargetRun & Pick<WorkerOrder, 'skipped'>): Promise<WorkerEnd> {
  const { limitMs, crashFolder: _, ...order } = run;
  const board = CaseBoard.create(MAX_INPUT_BYTES);
  const worker = new Worker(new URL('./fuzz-worker.ts', import.meta.url), {
    workerData: { ...order, memory: board.memory } satisfies WorkerOrder,
    // Some of our code holds descriptors that Node did not open.
    trackUnmanagedFds: false,
    resourceLimits: { maxOldGenerationSizeMb: WORKER_MEMORY_MB },
  });
  const findings: FuzzFinding[] = [];
  let report: WorkerReport = { cases: 0, outcomes: {}, slowestMs: 0, slowest: new Uint8Array() };
  let isDone = false;
  worker.on('message', (word: WorkerWord) => {
    if (word.type === 'finding') findings.push(word.finding);
    else [report, isDone] = [word.report, word.isDone];
  });
  const loss = await lossOf(worker, board, limitMs);
  // Without a last word and without a reason it was ended by the code under test.
  const silent = isDone ? undefined : lost('crash', new TypeError('The worker ended by itself'), board);
  // The last words of a lost worker are some cases old.
  const cases = Math.max(report.cases, isDone ? 0 : board.begun);
  return { report: { ...report, cases }, findings, loss: loss ?? silent };
}

/** Waits for the worker's end. */
async function lossOf(worker: Worker, board: CaseBoard, limitMs: number): Promise<FuzzFinding | undefined> {
  const ended = Promise.withResolvers<FuzzFinding | undefined>();
  let [seen, since]: [number | undefined, number] = [undefined, 0];
  const look = setInterval(() => {
    const { running } = board;
    if (running !== seen) [seen, since] = [running, performance.now()];
    else if (running !== undefined && performance.now() - since > limitMs) {
      ended.resolve(lost('hang', new TypeError(`A case took more than ${limitMs} ms`), board));
      void worker.terminate();
    }
  }, LOOK_EVERY_MS);
  worker.on('message', (word: WorkerWord) => {
    // What it still has open, a timer perhaps, is not waited for.
    if (word.type === 'report' && word.isDone) ended.resolve(undefined);
  });
  worker.on('error', (thrown) => ended.resolve(lost('crash', thrown, board)));
  worker.on('exit', () => ended.resolve(undefined));
  const loss = await ended.promise;
  clearInterval(look);
  await worker.terminate();
  return loss;
}

function lost(kind: 'hang' | 'crash', thrown: unknown, board: CaseBoard): FuzzFinding {
  const message = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  return { kind, signature: `${kind}: ${signatureOf(thrown)}`, message, input: board.input };
}

/** Each try is a worker of its own. */
async function smallest(finding: FuzzFinding, run: TargetRun): Promise<FuzzFinding> {
  const input = await minimise(Buffer.from(finding.input), {
    ...MINIMISING,
    fails: async (shorter) => {
      const { loss } = await runWorker({ ...run, only: shorter, skipped: [] });
      return loss?.signature === finding.signature;
    },
  });
  return { ...finding, input };
}

function keep(finding: FuzzFinding, { target, crashFolder, seed }: TargetRun, index: number): KeptFinding {
  mkdirSync(crashFolder, { recursive: true });
  const file = join(crashFolder, `${target}-${seed}-${index + 1}-${finding.kind}`);
  writeFileSync(file, finding.input);
  return { ...finding, file };
}
