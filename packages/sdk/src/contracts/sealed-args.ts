/** Arguments of calls, kept encrypted apart from the journal, so that a call can be judged again under another registry. */
import type { JsonObject } from '@tool-runtime/protocol';

/** What calls of one session leave. */
export interface ArgsKeeper {
  /** The latest of a call counts: an approver or a hook may have changed them. Costs no write; see `SealedArgs`. */
  keep(call: KeptCall): void;
}

export interface KeptCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: JsonObject;
}

/** Why the arguments of a call are not kept although they could have been. */
export type NotKept = 'secret' | 'too_large';

/** One call as it is read back. */
export interface SealedCall {
  readonly callId: string;
  readonly tool: string;
  /** Undefined when they were left out on purpose. */
  readonly args: JsonObject | undefined;
  readonly notKept: NotKept | undefined;
  /** The session could do less than its host's registry says: it had a registry, a folder or a parent of its own. */
  readonly isNarrowed: boolean;
}
