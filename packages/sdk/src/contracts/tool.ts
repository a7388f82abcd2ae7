/** The shape of a tool: one object from which schemas, listings, help and docs all come. */
import type { ErrorEntry, JsonObject } from '@tool-runtime/protocol';
import type { z } from 'zod';
import type { SideEffectLevel, ToolAnnotationsInput, ToolKind } from './annotations.ts';
import type { EffectClass, RiskClass } from './classes.ts';
import type { FileChange, MaybePromise, Workspace } from './workspace.ts';

/** What a tool may touch while it runs. Everything is already bound to the session's policy. */
export interface ToolContext {
  readonly callId: string;
  readonly sessionId: string;
  readonly workspace: Workspace;
  /** Fires on cancel and at the deadline. */
  readonly signal: AbortSignal;
  progress(pct: number, message: string): void;
  warn(entry: ErrorEntry): void;
  /** Reports a file that changed by other means than `workspace`, whose own changes are noticed anyway. */
  changed(change: FileChange): void;
}

/** The part of the annotations that may depend on the arguments of one call. */
export interface CallProfile {
  readonly kind: ToolKind;
  readonly side_effect_level: SideEffectLevel;
  readonly effect: EffectClass;
  readonly risk: RiskClass;
}

export interface ToolDefinition<Args extends z.ZodObject = z.ZodObject, Data extends z.ZodType = z.ZodType> {
  /** Wire name, snake_case. */
  readonly name: string;
  readonly category: string;
  readonly title: string;
  readonly summary: string;
  readonly policyNotes?: string;
  readonly args: Args;
  readonly data: Data;
  /** Omitted: the tool counts as unannotated, above every ceiling unless a policy lists it by name. */
  readonly annotations?: ToolAnnotationsInput;
  readonly effect: EffectClass;
  readonly risk: RiskClass;
  /** Narrows the static profile for one call's arguments; the static one is the worst case and is enforced as such. */
  profile?(args: z.output<Args>): Partial<CallProfile>;
  /** Running it again with the same arguments has no further effect: a lost call may be retried. */
  readonly idempotent?: boolean;
  readonly timeoutMs: number;
  /** Argument that lets the caller lower the time limit. */
  readonly timeoutArg?: string;
  /** Arguments that appear in records only as size and digest. */
  readonly privateArgs?: readonly string[];
  /** Optional engines the tool cannot work without; a registry that enables it without them fails at start. */
  readonly needs?: readonly 'ast'[];
  /** Extra facts for the journal's `requested` record, such as who a write is attributed to. */
  recordDetails?(args: z.output<Args>): JsonObject;
  run(args: z.output<Args>, context: ToolContext): MaybePromise<z.output<Data>>;
}

/** The erased form the runtime holds: argument and data types are checked by the schemas at run time. */
// biome-ignore lint/suspicious/noExplicitAny: the one place where the types of different tools meet
export type AnyTool = ToolDefinition<any, any>;

export function defineTool<Args extends z.ZodObject, Data extends z.ZodType>(
  tool: ToolDefinition<Args, Data>,
): ToolDefinition<Args, Data> {
  return Object.freeze(tool);
}
