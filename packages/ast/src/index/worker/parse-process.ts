/**
 * One parse process with its jobs in flight, first in, first out. A process and not a thread: the memory a parser takes
 * is given back when it ends, and whatever a file does to a parser, it is not done to the host.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import type { SkipReason } from '../../contracts/code-index-contract.ts';
import { inPackage } from '../../contracts/package-folder.ts';
import { FrameReader, frameBytes } from './frames.ts';
import { type ParseJob, type ParseOutcome, READY } from './parse-outcome.ts';

export interface PendingJob {
  readonly job: ParseJob;
  /** How often a process died on it. */
  crashes: number;
  resolve(outcome: ParseOutcome): void;
  reject(reason: unknown): void;
}

export interface ProcessEvents {
  onIdle(parser: ParseProcess): void;
  /** The process is gone; the first of `left` was being parsed. */
  onCrash(parser: ParseProcess, left: readonly PendingJob[]): void;
}

/** Sources run as they are in development, bundled when installed. */
const IS_SOURCE = import.meta.url.endsWith('.ts');
const ENTRY = inPackage(IS_SOURCE ? 'src/index/worker/parse-worker.ts' : 'dist/index/worker/parse-worker.js');
const CONDITIONS = IS_SOURCE ? ['--conditions=tool-runtime-source', '--disable-warning=ExperimentalWarning'] : [];
/** The memory of a parser never shrinks, so a process is replaced after a large file, and after very many. */
const LARGE_FILE_BYTES = 1024 * 1024;
const RETIRE_BYTES = 256 * 1024 * 1024;
/** The data of a file is small and goes away with it; the usual size takes 30 MB more and saves no time. */
const YOUNG_MB = 4;
/** The parser gives up by itself after five seconds; a process that needs longer hangs. */
const HANG_MS = 30_000;
const MAX_LAST_WORDS = 2_000;

export class ParseProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #events: ProcessEvents;
  readonly #jobs: PendingJob[] = [];
  readonly #reader = new FrameReader();
  #lastWords = '';
  #bytes = 0;
  #bytesInFlight = 0;
  #watch: NodeJS.Timeout | undefined;
  isWorn = false;
  /** A process that ends before it was ready was ended by no file. */
  isReady = false;
  failure: unknown;

  constructor(heapMb: number, events: ProcessEvents) {
    this.#events = events;
    this.#child = spawn(
      process.execPath,
      [`--max-old-space-size=${heapMb}`, `--max-semi-space-size=${YOUNG_MB}`, ...CONDITIONS, fileURLToPath(ENTRY)],
      // Where a core dump would do no harm.
      { stdio: ['pipe', 'pipe', 'pipe'], env: environment(), cwd: path.parse(process.execPath).root },
    );
    this.#child.stdout?.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#lastWords = (this.#lastWords + chunk.toString('latin1')).slice(0, MAX_LAST_WORDS);
    });
    // Writing to a process that just ended; `close` follows.
    this.#child.stdin?.on('error', () => undefined);
    this.#ended = new Promise((resolve) => {
      this.#child.on('error', (thrown) => {
        this.failure = thrown;
        // A process that never was has nothing to close.
        if (this.#child.pid === undefined) this.#end(resolve);
      });
      this.#child.on('close', () => this.#end(resolve));
    });
    this.#hold(false);
  }

  get load(): number {
    return this.#jobs.length;
  }

  /** Of the jobs it has. */
  get bytesInFlight(): number {
    return this.#bytesInFlight;
  }

  send(pending: PendingJob): void {
    const { path: name, language, bytes, earlier } = pending.job;
    if (this.#jobs.length === 0) this.#hold(true);
    this.#jobs.push(pending);
    this.#bytes += bytes.byteLength;
    this.#bytesInFlight += bytes.byteLength;
    this.isWorn ||= this.#bytes > RETIRE_BYTES || bytes.byteLength > LARGE_FILE_BYTES;
    const blocks = earlier === undefined ? [bytes] : [bytes, earlier];
    this.#write(frameBytes({ head: { path: name, language }, blocks }));
    this.#watch ??= this.#watchdog();
  }

  async terminate(): Promise<void> {
    clearTimeout(this.#watch);
    this.#hold(true);
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** What is sent in one turn goes out in one write. */
  #write(pieces: readonly Uint8Array[]): void {
    const { stdin } = this.#child;
    if (stdin === null) return;
    if (stdin.writableCorked === 0) {
      stdin.cork();
      process.nextTick(() => stdin.uncork());
    }
    for (const piece of pieces) stdin.write(piece);
  }

  #receive(chunk: Buffer): void {
    this.#reader.add(chunk);
    for (let frame = this.#reader.next(); frame !== undefined; frame = this.#reader.next()) {
      const { head, blocks } = frame;
      if (head[READY] === true) this.isReady = true;
      else this.#finish(outcomeOf(head['skipped'] as SkipReason | undefined, blocks));
    }
  }

  #finish(outcome: ParseOutcome): void {
    clearTimeout(this.#watch);
    const done = this.#jobs.shift();
    this.#bytesInFlight -= done?.job.bytes.byteLength ?? 0;
    this.#watch = this.#jobs.length === 0 ? undefined : this.#watchdog();
    if (this.#jobs.length === 0) this.#hold(false);
    done?.resolve(outcome);
    this.#events.onIdle(this);
  }

  /** Whether the program waits for it before it ends. */
  #hold(isHeld: boolean): void {
    const { stdin, stdout, stderr } = this.#child;
    for (const one of [this.#child, stdin as Socket | null, stdout as Socket | null, stderr as Socket | null]) {
      if (isHeld) one?.ref();
      else one?.unref();
    }
  }

  #watchdog(): NodeJS.Timeout {
    return setTimeout(() => void this.terminate(), HANG_MS).unref();
  }

  #end(resolve: () => void): void {
    clearTimeout(this.#watch);
    resolve();
    const { signalCode, exitCode } = this.#child;
    this.failure ??= new ToolError('E_INTERNAL', `Parse process ended: ${signalCode ?? exitCode}`, {
      details: {
        reason: 'worker_ended',
        stderr: safeText(this.#lastWords, MAX_LAST_WORDS),
        next: 'Read details.stderr',
      },
    });
    this.#events.onCrash(this, this.#jobs.splice(0));
  }
}

/** Copied, because a view would keep the whole chunk it came in for as long as it is not collected. */
function outcomeOf(skipped: SkipReason | undefined, [packed, columns]: readonly Uint8Array[]): ParseOutcome {
  if (skipped !== undefined || packed === undefined || columns === undefined) {
    return { skipped: skipped ?? 'parser_crashed' };
  }
  return { packed: new Uint8Array(packed), columns: new Uint8Array(columns) };
}

/** Nothing of the host but what starting Node may need. Not NODE_OPTIONS: some would keep it from starting. */
function environment(): NodeJS.ProcessEnv {
  const { LD_LIBRARY_PATH } = process.env;
  return {
    ...(LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH }),
    ...(process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' }),
  };
}
