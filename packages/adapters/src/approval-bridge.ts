/**
 * Approvals that a framework collects, as the runtime's approver.
 *
 * The framework asks before it executes: `judge` tells it whether it must. When it then executes, a person has said yes,
 * and the question the runtime asks during that call is answered with that yes. It holds once, for the very arguments
 * that were asked about, and only inside that call: the async context carries it, nothing else can use it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { toToolError } from '@tool-runtime/protocol';
import type { ApprovalDispatcher, ApprovalReply, Session } from '@tool-runtime/sdk';

const MAX_ASKED = 10_000;

export interface JudgedToolCall {
  readonly name: string;
  readonly args: unknown;
  /** Left out by frameworks that do not tell it while they ask. */
  readonly callId?: string;
}

export interface Judgement {
  readonly verdict: 'allow' | 'ask' | 'deny';
  readonly reason?: string;
}

export interface ApprovalBridge extends ApprovalDispatcher {
  /** What the gates would say. After `ask` the framework has to get a yes before it executes the call. */
  judge(session: Session, call: JudgedToolCall): Promise<Judgement>;
  /** Runs a call that the framework lets pass; one that was judged `ask` runs with its yes. */
  execute<T>(session: Session, call: JudgedToolCall, work: () => Promise<T>): Promise<T>;
}

export interface ApprovalBridgeOptions {
  /** Who answers, as the journal names it; `framework` by default. */
  readonly by?: string;
  /** Asked about calls that no framework asked about; without it they are denied. */
  readonly otherwise?: ApprovalDispatcher;
}

/** Give it to `createRuntime({ approvals })` and to the adapter. */
export function createApprovalBridge({ by = 'framework', otherwise }: ApprovalBridgeOptions = {}): ApprovalBridge {
  const asked = new Set<string>();
  const approved = new AsyncLocalStorage<{ readonly sessionId: string; readonly tool: string }>();
  return {
    async judge(session, call) {
      const judgement = await propose(session, call);
      if (judgement.verdict === 'ask') remember(asked, keyOf(session, call));
      return judgement;
    },
    async execute(session, call, work) {
      if (!asked.delete(keyOf(session, call))) return work();
      return approved.run({ sessionId: session.id, tool: call.name }, work);
    },
    async ask(request, signal): Promise<ApprovalReply> {
      const yes = approved.getStore();
      if (yes?.sessionId === request.call.sessionId && yes.tool === request.call.tool)
        return { answer: 'approved', by };
      if (otherwise !== undefined) return otherwise.ask(request, signal);
      return { answer: 'denied', by, reason: 'no one was asked about this call' };
    },
  };
}

/** A call that is invalid is not put to a person: its own answer says what is wrong. */
async function propose(session: Session, { name, args }: JudgedToolCall): Promise<Judgement> {
  try {
    const { steps } = await session.propose({ steps: [{ tool: name, args }] });
    const [step] = steps;
    return { verdict: step?.verdict ?? 'deny', ...(step?.reason === undefined ? {} : { reason: step.reason }) };
  } catch (thrown) {
    return { verdict: 'deny', reason: toToolError(thrown).message };
  }
}

/** A call that was asked about and rejected is never executed: what is oldest goes when there are too many. */
function remember(asked: Set<string>, key: string): void {
  asked.add(key);
  const [oldest] = asked;
  if (asked.size > MAX_ASKED && oldest !== undefined) asked.delete(oldest);
}

function keyOf(session: Session, { name, args, callId }: JudgedToolCall): string {
  return JSON.stringify([session.id, callId ?? null, name, args]);
}
