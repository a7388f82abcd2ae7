/** The shape of a tool: one object from which schemas, listings, help and docs all come. */
import type { ErrorEntry, JsonObject, ToolError } from '@tool-runtime/protocol';
import type { z } from 'zod';
import type { ChangeHistory } from '../changes/change-set.ts';
import type { SideEffectLevel, ToolAnnotationsInput, ToolKind } from './annotations.ts';
import type { ArtifactStore } from './artifacts.ts';
import type { AstIndex } from './ast.ts';
import type { EffectClass, RiskClass } from './classes.ts';
import type { AskClient } from './client-port.ts';
import type { CommandList } from './command-list.ts';
import type { CommandRunner, ProgramEffects } from './commands.ts';
import type { CommitCandidate, GitIntent, GitRepository, Publication } from './git.ts';
import type { HttpClient } from './http.ts';
import type { JobTable } from './jobs.ts';
import type { ByteFilter } from './redaction.ts';
import type { Registry } from './registry.ts';
import type { ExpectedChange } from './rehearsal.ts';
import type { Validation } from './rule.ts';
import type { SessionMetrics, TraceContext } from './telemetry.ts';
import type { ToolText } from './tool-text.ts';
import type { TransactionStep, Transactions } from './transactions.ts';
import type { FileChange, MaybePromise, Workspace } from './workspace.ts';

/** What a tool may touch while it runs. Everything is already bound to the session's policy. */
export interface ToolContext {
  readonly callId: string;
  readonly sessionId: string;
  /** What the operator allows, for tools whose behaviour it settles. */
  readonly registry: Registry;
  readonly workspace: Workspace;
  /** Refuses everything unless the call's side-effect level is `network`. */
  readonly http: HttpClient;
  /** Refuses everything unless the call's side-effect level is `process_exec` or above. */
  readonly commands: CommandRunner;
  /** Looks at any level; changes the repository from `workspace_write` on, talks to remotes at `network` only. */
  readonly git: GitRepository;
  /** The command argument of the call, parsed: the very list that the rules checked. */
  readonly command: CommandList | undefined;
  /** The frozen tree that passed the commit gate; only for calls whose intent is to commit. */
  readonly candidate: CommitCandidate | undefined;
  /** What passed the push gate; only for calls whose intent is to push to a named remote. */
  readonly publication: Publication | undefined;
  /** Runs rules on request. */
  readonly validation: Validation;
  readonly jobs: JobTable;
  /** What becomes of what programs write that the tool starts by itself. Undefined: it is real at once. */
  readonly effects: ProgramEffects | undefined;
  /** Change sets of the workspace. */
  readonly history: ChangeHistory;
  readonly transactions: Transactions;
  /** The code index that knows the files of `workspace`. */
  readonly ast: AstIndex | undefined;
  readonly artifacts: ArtifactStore;
  readonly metrics: SessionMetrics;
  /** W3C trace context to pass on to what the tool calls: the span of this call, or else what its caller sent. */
  readonly trace: TraceContext | undefined;
  /** Undefined when the caller cannot be asked anything. */
  readonly askClient: AskClient | undefined;
  /** Fires on cancel and at the deadline. */
  readonly signal: AbortSignal;
  /** Longest run the arguments and the registry allow, for what outlives the call. */
  readonly limitMs: number;
  /** `data` is for machines, such as which stream a chunk of output came from. */
  progress(pct: number, message: string, data?: JsonObject): void;
  warn(entry: ErrorEntry): void;
  /** Masks known secrets in a text. Answers are masked anyway: this is for text that is cut or encoded first. */
  redact(text: string): string;
  /** A command as it may be shown: secrets given as options, headers, assignments or in URLs are taken out. */
  redactCommand(command: string | readonly string[]): string;
  /** Masks known secrets in bytes that come in chunks, such as what a program prints. Nothing else is changed. */
  redactOutput(): ByteFilter;
  /** Reports secrets that were masked by other means than those above; the answer says how many there were. */
  masked(count: number): void;
  /**
   * Reports a file that changed by other means than `workspace`, whose own changes are noticed anyway. The code index
   * follows it and records name it; rules of the after phase judge only what can be taken back.
   */
  changed(change: FileChange): void;
  /**
   * Names files that a program is about to change by other means than `workspace`, and the recovery point that takes it back: the
   * change set of the call then has them as they were and as they are when it ends.
   */
  aboutToChange(paths: readonly string[], recovery: string): Promise<void>;
  /** Facts for the journal's `result` record, whether the call succeeds or not: ids and digests, never content. */
  record(facts: JsonObject): void;
}

/**
 * What `rehearse` is given: a context that changes nothing. Mutations of its workspace are noted as expected changes;
 * commands, network and writing runs of git are refused.
 */
export interface RehearsalContext extends ToolContext {
  /** Notes a change that does not go through `workspace`. */
  expect(change: ExpectedChange): void;
}

/** The part of the annotations that may depend on the arguments of one call. */
export interface CallProfile {
  readonly kind: ToolKind;
  readonly side_effect_level: SideEffectLevel;
  readonly effect: EffectClass;
  readonly risk: RiskClass;
}

export interface ToolDefinition<
  Args extends z.ZodObject = z.ZodObject,
  Data extends z.ZodType = z.ZodType,
  Name extends string = string,
> {
  /** Wire name, snake_case. */
  readonly name: Name;
  readonly category: string;
  readonly title: string;
  readonly summary: string;
  readonly policyNotes?: string;
  /** What is said instead of `policyNotes` in sessions with this registry. */
  notesFor?(registry: Registry): string;
  readonly args: Args;
  readonly data: Data;
  /** Shown in listings instead of what `args` says, for a contract that was not written here; `args` must enforce it. */
  readonly argsJsonSchema?: JsonObject;
  /** The same for `data`. */
  readonly dataJsonSchema?: JsonObject;
  /** Answers are built by typed code whose tests check them against `data`; long lists are not checked again at run time. */
  readonly isDataProven?: boolean;
  /** Omitted: the tool counts as unannotated, above every ceiling unless a policy lists it by name. */
  readonly annotations?: ToolAnnotationsInput;
  /** The lowest level any call of it can have, where `profile` lowers it: decides whether a session may see the tool. */
  readonly leastLevel?: SideEffectLevel;
  readonly effect: EffectClass;
  readonly risk: RiskClass;
  /** The executor that runs it, one of the runtime's `executors`. Left out: its own `run` does. */
  readonly executorRef?: string;
  /** Narrows the static profile for one call's arguments; the static one is the worst case and is enforced as such. */
  profile?(args: z.output<Args>, registry: Registry): Partial<CallProfile>;
  /** Capability operations this call needs in addition to those of the annotations, such as `{ workspace: ['delete'] }`. */
  operations?(args: z.output<Args>): Readonly<Record<string, readonly string[]>>;
  /** Paths in the arguments that stand inside other values, such as a diff; path rules judge them with those of the key. */
  innerPaths?(args: z.output<Args>): readonly InnerPath[];
  /** Paths that the call touches and a text among its arguments names: locked and checked like the path arguments. */
  pathsInText?(args: z.output<Args>): readonly InnerPath[];
  /** Running it again at once has no further effect. A hint for clients; it does not decide what becomes of a lost call. */
  readonly idempotent?: boolean;
  /** Takes `idempotent` back for a call whose arguments say otherwise. */
  isIdempotent?(args: z.output<Args>): boolean;
  /**
   * How a retry finds out what became of a call with a key whose process died. `run`: the tool changes nothing but files
   * through `workspace`, so its own `run` is rehearsed on a workspace that only notes what it is asked to do. A function
   * notes the changes itself and answers what the call would answer, or undefined where only a look afterwards can tell;
   * when it throws, the call cannot be compared. `none`: the effect cannot be compared, and such a key stays
   * `outcome_unknown` until an operator resolves it. A tool that declares nothing is treated like `none`.
   */
  readonly rehearse?:
    | 'run'
    | 'none'
    | ((args: z.output<Args>, context: RehearsalContext) => MaybePromise<z.output<Data> | undefined>);
  readonly timeoutMs: number;
  /** How far a caller may raise the limit where the registry sets no maximum; `timeoutMs` by default. */
  readonly maxTimeoutMs?: number;
  /** Argument that lets the caller choose the time limit. */
  readonly timeoutArg?: string;
  /** Its names in other agents, in lower case without underscores, and their arguments → ours: for the refusal of such a call. */
  readonly knownAs?: { readonly names: readonly string[]; readonly args: Readonly<Record<string, string>> };
  /** Globs in the arguments. Like paths they may begin with the absolute path of the workspace, which is then left out. */
  readonly globArgs?: readonly string[];
  /** Arguments that appear in records only as size and digest. */
  readonly privateArgs?: readonly string[];
  /** Every call needs an approval unless `auto_approve` lists the tool, also where no approval policy is written. */
  readonly asksByDefault?: boolean;
  /** Optional engines the tool cannot work without; a registry that enables it without them fails at start. */
  readonly needs?: readonly 'ast'[];
  /**
   * The answer as text for models and people. Pure and quick: it gets data and arguments that the schemas have checked.
   * Left out: rows of `key: value`.
   */
  present?(data: z.output<Data>, args: z.output<Args>): string | ToolText;
  /**
   * Answers are contents rather than facts: files, hits, diffs, output. Many clients show a model only the structured form
   * where there is one, so models get these as text alone.
   */
  readonly hasLargeAnswers?: boolean;
  /** Bytes the answer carries, for metrics and budgets; written files are counted anyway. */
  measure?(data: z.output<Data>): number;
  /** What a call means to git, for the rules that guard the repository. */
  git?(args: z.output<Args>): GitIntent;
  /** The refusal that keeps the tool out of sessions with such a registry. */
  hiddenBy?(registry: Registry): ToolError | undefined;
  /** Locks in addition to those of the declared paths, for what is shared by name. */
  readonly locks?: readonly string[];
  /**
   * `unknown`: a program decides what is written, so no paths are locked: a lock would keep others waiting and protect
   * nothing. Left out: the declared paths are written, or, where there are none, anything.
   */
  readonly writes?: 'unknown';
  /**
   * While a transaction is open, `outside`: it works on what is real; `refused`: what it does cannot be held back. Left out: it
   * sees and changes the state that the transaction has reached.
   */
  readonly inTransaction?: 'outside' | 'refused';
  /** What it does to transactions, for batches that are one. */
  readonly ofTransaction?: TransactionStep;
  /** Extra facts for the journal's `requested` record, such as who a write is attributed to. */
  recordDetails?(args: z.output<Args>): JsonObject;
  /** Hears of calls of it that were refused before it ran, for tools that keep records of their own. Must not throw. */
  recordRefusal?(refusal: RefusedCall): MaybePromise<void>;
  run(args: z.output<Args>, context: ToolContext): MaybePromise<z.output<Data>>;
}

export interface InnerPath {
  /** One of the path params. */
  readonly key: string;
  readonly value: string;
}

export interface RefusedCall {
  readonly callId: string;
  readonly sessionId: string;
  readonly actor: string;
  /** As callers and records see it. */
  readonly error: ToolError;
}

/** The erased form the runtime holds: argument and data types are checked by the schemas at run time. */
// biome-ignore lint/suspicious/noExplicitAny: the one place where the types of different tools meet
export type AnyTool = ToolDefinition<any, any>;

export function defineTool<Args extends z.ZodObject, Data extends z.ZodType, const Name extends string>(
  tool: ToolDefinition<Args, Data, Name>,
): ToolDefinition<Args, Data, Name> {
  return Object.freeze(tool);
}

/**
 * A built-in tool as the bundles list it: its facts, with the schemas as the build wrote them. The tool itself, with its
 * code, is loaded by its first call. Sources list the tools themselves.
 */
export interface ListedTool extends AnyTool {
  /** Of the schema of the arguments. */
  readonly schemaDigest: string;
  load(): Promise<AnyTool>;
}

export function isListedTool(tool: AnyTool): tool is ListedTool {
  return 'load' in tool && 'schemaDigest' in tool;
}
