/** One question with all that belongs to it: whether to ask at all, in what time, and what it means when no answer comes. */
import type { CoordinatorVerdict, ErrorEntry, ToolError } from '@tool-runtime/protocol';
import type { z } from 'zod';
import type { CoordinatorQuestion, CoordinatorSettings } from '../contracts/coordinator.ts';
import type { MaybePromise } from '../contracts/workspace.ts';
import { askInTime, type Heard } from './ask-in-time.ts';
import type { CircuitBreaker, CoordinatorBreakers } from './circuit-breaker.ts';
import { coordinatorMissing, coordinatorSilent, coordinatorUnreachable } from './coordinator-refusal.ts';

const MAX_MESSAGE_LENGTH = 500;

export interface ConsultOptions {
  readonly settings: CoordinatorSettings;
  readonly breakers: CoordinatorBreakers;
  redact(text: string): string;
  reportUnexpected(error: ToolError): void;
}

export interface Inquiry<Verdict> {
  readonly question: CoordinatorQuestion;
  /** Undefined: the coordinator does not answer such questions. */
  readonly ask: ((signal: AbortSignal) => MaybePromise<unknown>) | undefined;
  readonly schema: z.ZodType<Verdict>;
  /** Made on first use: nothing is asked while the coordinator is paused. */
  signal(): AbortSignal;
}

export interface Ruling {
  /** Undefined when there was no answer and none was required. */
  readonly verdict: CoordinatorVerdict | undefined;
  readonly warning: ErrorEntry | undefined;
}

const NOT_ASKED: Ruling = { verdict: undefined, warning: undefined };

/** A no is a verdict. Throws E_POLICY where the registry wants a word and none came, and the signal's reason. */
export async function consult<Verdict extends CoordinatorVerdict>(
  { question, ask, schema, signal }: Inquiry<Verdict>,
  { settings, breakers, redact, reportUnexpected }: ConsultOptions,
): Promise<Ruling> {
  const isRequired = settings.required.includes(question);
  if (ask === undefined) {
    if (isRequired) throw coordinatorMissing(question);
    return NOT_ASKED;
  }
  const breaker = breakers[question];
  // A required word is asked for every time: a pause would refuse calls that the coordinator may allow by now.
  if (!breaker.mayTry() && !isRequired) return withoutWord(coordinatorSilent(question, 'paused'));
  const timeoutMs = settings.timeout_ms;
  const heard = await watched(breaker, () => askInTime({ ask, schema, timeoutMs, signal: signal() }));
  if (heard.type === 'verdict') return { verdict: shownVerdict(heard.verdict, redact), warning: undefined };
  const silent = coordinatorSilent(question, heard.type, heard.cause);
  reportUnexpected(silent);
  if (isRequired) throw coordinatorUnreachable(question, heard.type, heard.cause);
  return withoutWord(silent);
}

function withoutWord(silent: ToolError): Ruling {
  return { verdict: undefined, warning: silent.toEntry() };
}

async function watched<Verdict>(
  breaker: CircuitBreaker,
  attempt: () => Promise<Heard<Verdict>>,
): Promise<Heard<Verdict>> {
  let heard: Heard<Verdict> | undefined;
  try {
    heard = await attempt();
    return heard;
  } finally {
    if (heard === undefined) breaker.abandoned();
    else if (heard.type === 'verdict') breaker.succeeded();
    else breaker.failed();
  }
}

/** Its words go into answers and records, so they are treated like any text from outside. */
function shownVerdict({ verdict, reason, message }: CoordinatorVerdict, redact: ConsultOptions['redact']) {
  if (message === undefined) return { verdict, reason };
  return { verdict, reason, message: redact(message).slice(0, MAX_MESSAGE_LENGTH).toWellFormed() };
}
