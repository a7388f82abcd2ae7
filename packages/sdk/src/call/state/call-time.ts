/**
 * The time of one call and the one way its stages wait.
 *
 * The limit counts from the beginning of the call and covers every wait. The time a person takes to answer is added, up
 * to the limit of that question, and so is the commit gate where the limit is the tool's own: its commands have their
 * limits. When time is up or the call is cancelled, its signal fires. A stage that does not end then is left behind
 * after its grace, so nothing can hold back the answer.
 */
import { isToolError, ToolError } from '@tool-runtime/protocol';
import { cancellation } from '../../contracts/failures.ts';
import type { MaybePromise } from '../../contracts/workspace.ts';

const GRACE_MS = 2_000;
/** Timers beyond this fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

interface Stage {
  /** What the call waits for, as the error puts it. */
  readonly awaits: string;
  /** How long it may go on after the signal, to end its programs and tell what it knows. */
  readonly graceMs: number;
  /** `late`: has to run even when time is up. `record` also keeps its own errors, because they are about the journal. */
  readonly runs?: 'late' | 'record';
}

/** Every place where a call can wait. A stage that waits elsewhere is not bounded: test/waiting-inside.deep.test.ts looks. */
export const STAGES = {
  load: { awaits: 'the code of its tool', graceMs: 0 },
  turn: { awaits: 'its turn among the running calls', graceMs: 0 },
  hooks: { awaits: 'a hook', graceMs: 0 },
  gates: { awaits: 'a rule, the policy or the coordinator', graceMs: 0 },
  approval: { awaits: 'an approval', graceMs: 0 },
  budget: { awaits: 'a budget', graceMs: 0 },
  key: { awaits: 'the journal, to look up its key', graceMs: 0 },
  locks: { awaits: 'a lock', graceMs: 0 },
  rehearsal: { awaits: 'the tool, to work out what it intends', graceMs: 0 },
  intent: { awaits: 'the journal, to record its intent', graceMs: 0 },
  commitGate: { awaits: 'the rules of the commit gate', graceMs: GRACE_MS },
  tool: { awaits: 'the tool', graceMs: GRACE_MS },
  servers: { awaits: 'a language server that runs', graceMs: 0 },
  index: { awaits: 'the code index', graceMs: 0, runs: 'late' },
  afterRules: { awaits: 'the rules that judge the change', graceMs: 0, runs: 'late' },
  undo: { awaits: 'the change to be taken back', graceMs: GRACE_MS, runs: 'record' },
  cleanUp: { awaits: 'the frozen index to be removed', graceMs: GRACE_MS, runs: 'record' },
  record: { awaits: 'the journal', graceMs: GRACE_MS, runs: 'record' },
  output: { awaits: 'a hook or the policy that judges the answer', graceMs: 0, runs: 'late' },
} as const satisfies Record<string, Stage>;

export type StageName = keyof typeof STAGES;

/** Of a call whose tool or arguments are not understood: it can only be refused, and the refusal recorded. */
const UNKNOWN_MS = 30_000;

export interface TimedCall {
  readonly tool: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export type OnLate<T> = (value: T, reason: ToolError) => void;

export class CallTime {
  readonly #call: TimedCall;
  readonly #began = performance.now();
  /** Few, most often one: an array is smaller than a set. */
  readonly #waits: (() => void)[] = [];
  #controller: AbortController | undefined;
  #reason: ToolError | undefined;
  #limitMs: number;
  /** What the commit gate may take in addition. */
  #gateMs = 0;
  /** Waited for people or the commit gate, so not counted. */
  #addedMs = 0;
  #pause: { readonly since: number; readonly atMostMs: number } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stage: StageName = 'turn';
  #isWatching = false;
  #isOver = false;

  constructor(call: TimedCall) {
    this.#call = call;
    this.#limitMs = Math.min(call.timeoutMs ?? UNKNOWN_MS, UNKNOWN_MS);
  }

  /** Made on first use: most calls never look. */
  get signal(): AbortSignal {
    this.#watch();
    this.#controller ??= new AbortController();
    if (this.#reason !== undefined && !this.#controller.signal.aborted) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  /** Why the call has to end, once it has to. */
  get reason(): ToolError | undefined {
    if (this.#reason === undefined && this.#call.signal?.aborted === true) this.#onCancel();
    return this.#reason;
  }

  /** Known with the arguments, and set again when they are edited. */
  limit(ms: number, gateMs = 0): void {
    this.#limitMs = Math.min(ms, this.#call.timeoutMs ?? ms);
    this.#gateMs = this.#call.timeoutMs === undefined ? gateMs : 0;
    if (this.#isWatching) this.#arm();
  }

  abort(reason: ToolError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    for (const onAbort of [...this.#waits]) onAbort();
  }

  /** From now on a person is asked: that time is not counted, as far as the question's own limit goes. */
  askPerson(atMostMs: number): void {
    this.#pause = { since: performance.now(), atMostMs };
    this.#arm();
  }

  personAnswered(): void {
    this.#resume();
  }

  #resume(): void {
    if (this.#pause === undefined) return;
    const { since, atMostMs } = this.#pause;
    const took = performance.now() - since;
    this.#addedMs += Math.min(took, atMostMs);
    this.#pause = undefined;
    this.#arm();
  }

  /** Nothing is timed any more. */
  end(): void {
    this.#isOver = true;
    if (!this.#isWatching) return;
    clearTimeout(this.#timer);
    this.#call.signal?.removeEventListener('abort', this.#onCancel);
  }

  /** Waits for a stage, never longer than the call may take. `onLate` gets what a stage still brings that was left behind. */
  wait<T>(name: StageName, run: () => MaybePromise<T>, onLate?: OnLate<T>): MaybePromise<T> {
    const stage: Stage = STAGES[name];
    if (stage.runs === undefined && this.reason !== undefined) throw this.reason;
    this.#stage = name;
    if (name === 'commitGate' && this.#gateMs > 0)
      return this.#besides(this.#gateMs, () => this.#start(name, run, onLate));
    return this.#start(name, run, onLate);
  }

  async #besides<T>(atMostMs: number, run: () => MaybePromise<T>): Promise<T> {
    this.#pause = { since: performance.now(), atMostMs };
    this.#arm();
    try {
      return await run();
    } finally {
      this.#resume();
    }
  }

  #start<T>(name: StageName, run: () => MaybePromise<T>, onLate: OnLate<T> | undefined): MaybePromise<T> {
    const running = run();
    if (!(running instanceof Promise)) return running;
    this.#watch();
    return this.#race(name, running, onLate);
  }

  #race<T>(name: StageName, running: Promise<T>, onLate: OnLate<T> | undefined): Promise<T> {
    const stage: Stage = STAGES[name];
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let grace: NodeJS.Timeout | undefined;
    let left: ToolError | undefined;
    const onAbort = (): void => {
      grace = setTimeout(() => {
        left = this.#leftBehind(name);
        this.#forget(onAbort);
        reject(left);
      }, stage.graceMs);
    };
    const ended = (): void => {
      if (grace !== undefined) clearTimeout(grace);
      this.#forget(onAbort);
    };
    running.then(
      (value) => {
        if (left !== undefined) return onLate?.(value, left);
        ended();
        resolve(value);
      },
      (thrown: unknown) => {
        ended();
        reject(this.#reason === undefined || stage.runs === 'record' ? thrown : explained(thrown, this.#reason));
      },
    );
    this.#waits.push(onAbort);
    if (this.#reason !== undefined) onAbort();
    return promise;
  }

  #forget(onAbort: () => void): void {
    const at = this.#waits.indexOf(onAbort);
    if (at >= 0) this.#waits.splice(at, 1);
  }

  /** Begins to watch the clock and the caller, with the first thing that takes time. */
  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#arm();
    const { signal } = this.#call;
    if (signal?.aborted === true) this.#onCancel();
    else signal?.addEventListener('abort', this.#onCancel, { once: true });
  }

  #arm(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    if (this.#reason !== undefined || this.#isOver) return;
    const end = this.#began + this.#limitMs + this.#addedMs + (this.#pause?.atMostMs ?? 0);
    const leftMs = Math.max(0, end - performance.now());
    this.#timer = setTimeout(() => this.abort(this.#timedOut(this.#stage)), Math.min(leftMs, MAX_TIMER_MS));
  }

  /** An outer abort carries any reason; inside it is always a coded cancellation. */
  readonly #onCancel = (): void => {
    const reason: unknown = this.#call.signal?.reason;
    this.abort(isToolError(reason) ? reason : cancellation());
  };

  #leftBehind(name: StageName): ToolError {
    if (this.#reason === undefined || this.#reason.code === 'E_TIMEOUT') return this.#timedOut(name);
    const stage: Stage = STAGES[name];
    if (stage.runs !== 'record') return this.#reason;
    return new ToolError('E_TIMEOUT', `Gave up waiting for ${stage.awaits}: ${this.#call.tool}`, {
      details: { waited_for: name },
    });
  }

  #timedOut(name: StageName): ToolError {
    const took = `took longer than ${this.#limitMs} ms: ${this.#call.tool}`;
    const message = name === 'tool' ? `Tool ${took}` : `Call ${took} (it waited for ${STAGES[name].awaits})`;
    const next = 'ask for less at once, or raise the time limit where the registry allows it';
    return new ToolError('E_TIMEOUT', message, {
      details: { timeout_ms: this.#limitMs, waited_for: name, next },
    });
  }
}

/** A stage that was stopped may know more than the bare reason: partial output, or what exactly it waited for. */
function explained(thrown: unknown, reason: ToolError): ToolError {
  if (!isToolError(thrown) || thrown === reason) return reason;
  const { waited_for, next } = thrown.details;
  const details = { ...thrown.details, ...reason.details };
  if (reason.code !== 'E_TIMEOUT' || waited_for === undefined) {
    return new ToolError(reason.code, reason.message, { details, cause: thrown });
  }
  const own = { ...details, waited_for, ...(next === undefined ? {} : { next }) };
  return new ToolError(reason.code, thrown.message, { details: own, cause: thrown });
}
