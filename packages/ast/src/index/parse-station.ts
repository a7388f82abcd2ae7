/**
 * Where a file is parsed: a few small ones on the calling thread, which for a file just written is faster than the way
 * to another process and can start from the tree of the last edit; bulk and large files in the processes of the pool.
 */
import { isToolError } from '@tool-runtime/protocol';
import type { SkipReason } from '../contracts/code-index-contract.ts';
import type { ParsedSource } from '../parse/source-parser.ts';
import { createEngine, type Engine } from '../symbols/engine.ts';
import type { Problems } from '../symbols/read-problems.ts';
import { orAborted } from './time-slices.ts';
import {
  factsOutcome,
  type ParseJob,
  type ParseOutcome,
  parseJob,
  parseOutcome,
  type TreeKeeper,
} from './worker/parse-outcome.ts';
import { createParsePool, type ParsePool, type ParsePoolOptions } from './worker/parse-pool.ts';

/** About fifteen milliseconds on the event loop without a tree to start from. */
const CALLING_THREAD_BYTES = 128 * 1024;

export interface ParseOrder {
  readonly isBulk: boolean;
  readonly signal: AbortSignal | undefined;
}

/** A file that is parsed, with its tree kept and its facts still in it. */
export interface UnreadFacts {
  readonly problems: Problems;
  /** Undefined when the tree is gone: the file must be parsed again. `earlier` as in a job. */
  read(earlier: Uint8Array | undefined): ParseOutcome | undefined;
}

export class ParseStation {
  readonly #options: ParsePoolOptions;
  readonly #trees = new KeptTrees((path) => this.#beforeEviction(path));
  #pool: ParsePool | undefined;
  #engine: Engine | undefined;
  #beforeEviction: (path: string) => void = () => undefined;

  constructor(options: ParsePoolOptions) {
    this.#options = options;
  }

  parse(job: ParseJob, { isBulk, signal }: ParseOrder): Promise<ParseOutcome> {
    if (!isBulk && job.bytes.byteLength <= CALLING_THREAD_BYTES) return this.#parseHere(job, signal);
    this.#pool ??= createParsePool(this.#options);
    return orAborted(this.#pool.parse(job), signal);
  }

  /** As `parse`, but leaves the facts for later where the file is parsed on the calling thread. */
  async parseOnly(job: ParseJob, signal: AbortSignal | undefined): Promise<ParseOutcome | { unread: UnreadFacts }> {
    if (job.bytes.byteLength > CALLING_THREAD_BYTES) return this.parse(job, { isBulk: false, signal });
    return this.#guarded(async (engine) => {
      const begun = await parseJob(engine, job, { trees: this.#keeper(job), signal });
      if ('skipped' in begun) return begun;
      const { parsed } = begun;
      this.#trees.put(job.path, parsed);
      return {
        unread: {
          problems: engine.problems(parsed, job.path),
          read: (earlier) => this.#read({ ...job, earlier }, parsed),
        },
      };
    });
  }

  /** Called before the tree of a path goes to make room for another. */
  onEviction(listener: (path: string) => void): void {
    this.#beforeEviction = listener;
  }

  /** Resolves when another bulk job would be taken up soon. */
  async room(): Promise<void> {
    await this.#pool?.room();
  }

  forget(path: string): void {
    this.#trees.drop(path);
  }

  /** Ends the processes: jobs they have are refused. */
  async closePool(): Promise<void> {
    await this.#pool?.close();
  }

  /** Frees trees and parsers. Nothing may be parsed any more. */
  async close(): Promise<void> {
    await this.closePool();
    this.#trees.clear();
    await this.#engine?.delete();
  }

  #parseHere(job: ParseJob, signal: AbortSignal | undefined): Promise<ParseOutcome> {
    return this.#guarded((engine) => parseOutcome(engine, job, { trees: this.#keeper(job), signal }));
  }

  #keeper({ path, language }: ParseJob): TreeKeeper {
    return {
      previous: () => this.#trees.get(path, language),
      keep: (parsed: ParsedSource) => this.#trees.put(path, parsed),
    };
  }

  #read(job: ParseJob, parsed: ParsedSource): ParseOutcome | undefined {
    const engine = this.#engine;
    if (engine === undefined || this.#trees.get(job.path, job.language) !== parsed) return undefined;
    try {
      return factsOutcome(engine, { job, parsed });
    } catch (thrown) {
      return this.#afterFailure(thrown);
    }
  }

  async #guarded<T>(work: (engine: Engine) => Promise<T>): Promise<T | { readonly skipped: SkipReason }> {
    this.#engine ??= createEngine();
    try {
      return await work(this.#engine);
    } catch (thrown) {
      return this.#afterFailure(thrown);
    }
  }

  /** When the parser itself failed, neither it nor what it made can be trusted, or freed, any more. */
  #afterFailure(thrown: unknown): { readonly skipped: SkipReason } {
    if (isToolError(thrown)) throw thrown;
    this.#trees.abandon();
    this.#engine = undefined;
    return { skipped: 'parser_crashed' };
  }
}

const MAX_TREES = 32;
const MAX_HEAP_BYTES = 64 * 1024 * 1024;
/** A tree takes about this many times the memory of its source. */
const TREE_FACTOR = 12;

/** Trees of the files edited lately, so that the next edit reparses only what it touched. Nothing else frees them. */
export class KeptTrees {
  readonly #beforeEviction: (path: string) => void;
  /** By path, the least recently used first. */
  readonly #trees = new Map<string, ParsedSource>();
  #heapBytes = 0;

  /** `beforeEviction` is told of a tree that must go to make room, while it still can be read. */
  constructor(beforeEviction: (path: string) => void = () => undefined) {
    this.#beforeEviction = beforeEviction;
  }

  /** Stays the keeper's, and is valid until something else is put or dropped. */
  get(path: string, language: string): ParsedSource | undefined {
    const parsed = this.#trees.get(path);
    return parsed?.parser.language === language ? parsed : undefined;
  }

  put(path: string, parsed: ParsedSource): void {
    this.drop(path);
    this.#trees.set(path, parsed);
    this.#heapBytes += cost(parsed);
    for (const [oldest] of this.#trees) {
      if (this.#trees.size <= MAX_TREES && this.#heapBytes <= MAX_HEAP_BYTES) break;
      this.#beforeEviction(oldest);
      this.drop(oldest);
    }
  }

  drop(path: string): void {
    const parsed = this.#trees.get(path);
    if (parsed === undefined) return;
    this.#trees.delete(path);
    this.#heapBytes -= cost(parsed);
    parsed.delete();
  }

  clear(): void {
    for (const path of [...this.#trees.keys()]) this.drop(path);
  }

  /** Forgets all without freeing them: for a parser that failed. */
  abandon(): void {
    this.#trees.clear();
    this.#heapBytes = 0;
  }
}

function cost({ source }: ParsedSource): number {
  return source.bytes.byteLength * TREE_FACTOR;
}
