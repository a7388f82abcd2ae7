/** What a lane needs to make calls, and how a call is told apart from its outcome. */
import type { JsonObject, ToolResponse } from '@tool-runtime/protocol';
import type { CallPlan, TransportName } from '../../../packages/host/test/load/call-book.ts';
import type { SeededRandom } from '../../../packages/host/test/load/seeded-random.ts';
import { hasWaitedForLock, isJournalDown, type Knowledge, knowledgeOf, reasonOf } from '../oracle/call-outcome.ts';
import type { Site } from '../stage/site.ts';
import type { TimeLine } from '../time-line.ts';

/** One caller: one call after the other, on names that are its own. */
export interface Lane {
  readonly number: number;
  readonly site: Site;
  readonly random: SeededRandom;
  readonly timeLine: TimeLine;
  readonly ports: { readonly allowed: number; readonly canary: number };
  /** Raised where an outcome stays unknown: names with an older number are left alone from then on. */
  generation: number;
  /** Numbers everything it makes. */
  turn: number;
  readonly trees: string[];
  readonly keyed: KeyedCall[];
  /** What failed calls were told, by request; of all lanes. */
  readonly failures: Map<string, FailedCall>;
}

export interface FailedCall {
  readonly said: string;
  /** It was told that there is no record of it. */
  readonly isUnrecorded: boolean;
}

/** A call with a key that may be made again: as the same actor, with the same arguments. */
export interface KeyedCall {
  readonly actor: Actor;
  readonly tool: string;
  readonly args: JsonObject;
  readonly key: string;
  readonly settle: (knowledge: Knowledge) => void;
  /** What it was answered, once it is known. */
  answer?: ToolResponse;
}

/** Keys belong to an actor, and a socket's peer is another one than the holder of the token. */
export type Actor = 'token' | 'peer';

/** The session a call goes to, with what belongs to that session alone. */
export interface Caller {
  readonly transport: TransportName;
  /** Keys of a child are not its parent's. */
  readonly isChild: boolean;
  readonly jobs: string[];
  readonly artifacts: string[];
}

export interface CallKind {
  readonly name: string;
  /** How many of a thousand calls, or so. */
  readonly weight: number;
  /** Undefined when it has nothing to do now. */
  make(lane: Lane, caller: Caller): CallPlan | undefined;
}

export interface PlannedCall {
  readonly tool: string;
  readonly args: JsonObject;
  readonly key?: string;
  readonly cancelAfterMs?: number;
  /** Checks the data of a success. */
  readonly isRight?: (data: JsonObject) => boolean;
  /** Codes with which it may fail at any time. */
  readonly mayFail?: readonly string[];
  /** Hears what is known of its effect. */
  readonly settle?: (knowledge: Knowledge, answer: ToolResponse | undefined) => void;
}

/** Its client said goodbye at the same time. */
const LEFT: ReadonlySet<unknown> = new Set(['session_closed', 'unknown_session', 'token_invalid']);

/** A failure needs an excuse: a code that is to be expected, a cancel, or something that was wrong with the world. */
export function planCall(lane: Lane, call: PlannedCall): CallPlan {
  const { tool, args, key, cancelAfterMs, isRight = () => true, mayFail = [] } = call;
  const { timeLine } = lane;
  const madeMs = timeLine.nowMs;
  let isSettled = false;
  const settle = (knowledge: Knowledge, answer: ToolResponse | undefined): void => {
    if (!isSettled) call.settle?.(knowledge, answer);
    isSettled = true;
  };
  return {
    kind: tool,
    tool,
    args,
    ...(key === undefined ? {} : { key }),
    ...(cancelAfterMs === undefined ? {} : { cancelAfterMs }),
    judge(answer) {
      if (answer.ok) {
        return answer.data === null || isRight(answer.data as JsonObject) ? undefined : 'is not what was asked for';
      }
      const isExcused =
        mayFail.includes(answer.errors[0]?.code ?? '') ||
        hasWaitedForLock(answer) ||
        // By the call itself, or with its session.
        reasonOf(answer) === 'cancelled' ||
        !timeLine.isCalmSince(madeMs);
      return isExcused ? undefined : 'failed although nothing was wrong';
    },
    judgeRefusal(answer) {
      settle(knowledgeOf(answer), undefined);
      const reason = answer.details?.['reason'];
      if (reason === 'session_expired') return 'found its session expired';
      const isExcused = LEFT.has(reason) || !timeLine.isCalmSince(madeMs);
      return isExcused ? undefined : 'was refused at the door although nothing was wrong';
    },
    settle(answer) {
      if (answer?.ok === false) lane.failures.set(answer.request_id, failedCall(answer));
      settle(knowledgeOf(answer), answer);
    },
  };
}

function failedCall(answer: ToolResponse): FailedCall {
  const { code, message, details } = answer.errors[0] ?? {};
  return {
    said: `${code} ${message} ${JSON.stringify(details ?? {})}`.slice(0, 300),
    isUnrecorded: isJournalDown(answer),
  };
}

export function actorOf({ transport }: Pick<Caller, 'transport'>): Actor {
  return transport === 'lines' ? 'peer' : 'token';
}

/** Made of what shell patterns let through, and never the same twice. */
export function newToken(lane: Lane): string {
  lane.turn += 1;
  return `${lane.site.name}-l${lane.number}-t${lane.turn}`;
}
