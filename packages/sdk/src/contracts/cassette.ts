/** Cassettes: what a run of calls asked and got, in a file that can answer the same calls again. */
import type { ErrorEntry, EventMessage, JsonObject, JsonValue, ToolError, ToolResponse } from '@tool-runtime/protocol';

export const CASSETTE_MODES = ['record', 'replay', 'replay-or-record'] as const;

/**
 * `record`: calls run, and the file is written anew. `replay`: calls are answered from the file; nothing runs.
 * `replay-or-record`: as `replay`, and calls after the last recorded one of their session run and are added.
 */
export type CassetteMode = (typeof CASSETTE_MODES)[number];

export interface CassetteOptions {
  readonly mode: CassetteMode;
  /** JSON lines; see docs/record-and-replay.md. */
  readonly file: string;
  /**
   * With `replay`: writes recorded file changes to the workspace, which should be a scratch folder. `replay-or-record`
   * always does.
   */
  readonly applyFiles?: boolean;
}

/** How far a cassette is. */
export interface CassetteState {
  readonly mode: CassetteMode;
  readonly file: string;
  /** Calls that this runtime added to the file. */
  readonly recorded: number;
  /** Calls that were answered from it. */
  readonly replayed: number;
  /** Recorded calls that were not asked for yet. */
  readonly left: number;
  /** Why calls are refused from now on. */
  readonly failure: ToolError | undefined;
}

/** The parts of an answer that do not depend on when and where it was given. */
export interface RecordedAnswer {
  readonly ok: boolean;
  readonly data: JsonValue;
  readonly errors: readonly ErrorEntry[];
  readonly warnings: readonly ErrorEntry[];
  readonly redacted?: number | undefined;
  readonly change_id?: string | undefined;
}

/** What a tool reported while it ran. */
export interface RecordedEvent {
  readonly pct: number;
  readonly message: string;
  readonly data?: JsonObject | undefined;
}

/** What is at a path after the call. Modes are octal. A file without content is one whose content was not kept. */
export type RecordedFile =
  | { readonly path: string; readonly file: RecordedContent; readonly mode: string }
  | { readonly path: string; readonly link: string }
  | { readonly path: string; readonly folder: true; readonly mode: string }
  | { readonly path: string; readonly absent: true };

export type RecordedContent =
  | { readonly text: string }
  | { readonly base64: string }
  | { readonly left_out: 'not_kept' | 'too_large' };

/** A recorded call as replay gives it back: with the paths of this machine. */
export interface TapedCall {
  readonly answer: RecordedAnswer;
  readonly events: readonly RecordedEvent[];
  /** Undefined: file changes are not to be applied. */
  readonly files: readonly RecordedFile[] | undefined;
  /** Says that the call cannot be answered as it was recorded. */
  refused(error: ToolError): void;
  /** File changes are applied one call after the other. */
  inTurn<T>(apply: () => Promise<T>): Promise<T>;
}

/** What became of a call that ran. */
export interface LiveCall {
  readonly args: JsonValue;
  readonly response: ToolResponse;
  readonly events: readonly EventMessage[];
  readonly files: readonly RecordedFile[];
}

/** The place of one call in a cassette, taken when it begins. */
export type CassetteTurn =
  | { readonly kind: 'replay'; readonly call: TapedCall }
  | { readonly kind: 'refuse'; readonly error: ToolError }
  | {
      readonly kind: 'record';
      /** Undefined for a call that came to nothing. Answers a warning when the call could not be written. */
      finish(call: LiveCall | undefined): ErrorEntry | undefined;
    };

export interface AskedCall {
  readonly sessionId: string;
  readonly tool: string;
  readonly args: unknown;
  readonly member?: BatchMember | undefined;
  /** For what is said about a call that differs. */
  redact(text: string): string;
}

/** Calls of a batch that run side by side: which one begins first is chance, so they are written in the order of the batch. */
export interface CassetteBatch {
  readonly size: number;
  /** No call of it begins any more. */
  close(): void;
}

export interface BatchMember {
  readonly batch: CassetteBatch;
  readonly index: number;
}

export interface Cassette {
  batch(size: number): CassetteBatch;
  /** Calls of a session are recorded and answered in the order in which they take their turn. */
  take(call: AskedCall): CassetteTurn;
  state(): CassetteState;
  close(): void;
}
