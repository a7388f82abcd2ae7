/**
 * The ledger of effects: where hosts that may work on one workspace agree on who causes an effect, and what came of it.
 *
 * A runtime that has its workspace to itself needs none. With a ledger, a mutating call, and every call with a key, is
 * claimed there before its intent is written to the journal, and its outcome counts only when the ledger has taken it. The
 * fence is asked right before each change: a host that lost its workspace to another one can change nothing any more.
 */
import type { JsonObject } from '@tool-runtime/protocol';
import type { Rehearsal } from './rehearsal.ts';

/** What names a call in the ledger: its key, or the id of its request. */
export interface EffectName {
  readonly scope: string;
  readonly key: string;
  readonly tool: string;
  readonly args: JsonObject;
}

export interface EffectIntent extends EffectName {
  readonly callId: string;
  readonly sessionId: string;
  /** The call only reads. */
  readonly retrySafe: boolean;
  readonly rehearsal?: Rehearsal;
  /** The position of the lost call that this one takes over. */
  readonly over?: number;
}

export type EffectState =
  | { readonly state: 'new' }
  /** Its host may still be at it. */
  | { readonly state: 'running'; readonly callId: string }
  /** Its host lost the workspace or its process died, and no outcome is known. */
  | { readonly state: 'lost'; readonly callId: string; readonly at: number; readonly rehearsal?: Rehearsal }
  | { readonly state: 'done'; readonly callId: string; readonly answer: JsonObject }
  /** The name was used with other arguments. */
  | { readonly state: 'conflict'; readonly callId: string };

export interface EffectClaim {
  readonly state: 'claimed';
  /** False: another host took the call over, so this answer does not count. Rejects when the ledger cannot be reached. */
  finish(answer: JsonObject): Promise<boolean>;
  /** Nothing happened. Never rejects: what cannot be released is found lost later. */
  release(): Promise<void>;
}

export interface EffectLedger {
  /** Throws ToolError when this host must not change the workspace now. Synchronous, because it is asked at the change. */
  checkFence(): void;
  lookup(name: EffectName): Promise<EffectState>;
  /** The claim, or what stands in its way. Rejects when the ledger cannot be reached. */
  begin(intent: EffectIntent): Promise<EffectClaim | EffectState>;
}
