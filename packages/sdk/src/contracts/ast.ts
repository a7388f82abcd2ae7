/**
 * The code-intelligence port. The engine lives in its own package; without it the port is absent and rules that need it
 * fail closed.
 */
import type { ErrorEntry } from '@tool-runtime/protocol';
import type { CommandRunner, StagedTree } from './commands.ts';
import type { Registry } from './registry.ts';
import type { RuleDefinition, Violation } from './rule.ts';
import type { AnyTool } from './tool.ts';
import type { FileChange, MaybePromise, Workspace } from './workspace.ts';

export interface AstIndex {
  /** Whether the index parses files of this name. */
  covers(path: string): boolean;
  /** Brings the index in line with files that changed. */
  refresh(changes: readonly FileChange[], signal: AbortSignal): MaybePromise<void>;
  /**
   * Syntax errors of one file as it is on disk now that its last change brought; all of them for a new file, or when
   * no question about a change is asked.
   */
  parseProblems(
    path: string,
    signal: AbortSignal,
    options?: { readonly isNew?: boolean },
  ): MaybePromise<readonly Violation[]>;
  /**
   * Asks language servers that run what they find wrong with the files now. The answer is called after the change, with
   * the files that are there, and says what is new; undefined where no server runs. Waits for a bounded time both times.
   */
  watchDiagnostics?(
    paths: readonly string[],
    options: { readonly registry: Registry; readonly signal: AbortSignal },
  ): Promise<((paths: readonly string[]) => Promise<readonly ErrorEntry[]>) | undefined>;
  /** Brings in unreported changes: a command ran, and what it wrote is not known. */
  catchUp?(signal: AbortSignal): MaybePromise<void>;
  /** The same over the tree of a transaction, for its calls. Left out: they go without an index, and rules that need one refuse. */
  stage?(ports: StagedAstPorts): StagedAst;
}

export interface StagedAstPorts {
  /** Read-only. */
  readonly workspace: Workspace;
  /** What programs have to run on. */
  readonly tree: StagedTree;
}

export interface StagedAst extends AstIndex {
  close(): Promise<void>;
}

/** What an engine is given when its runtime opens. */
export interface AstPorts {
  /** Read-only. */
  readonly workspace: Workspace;
  /** Absolute path of the workspace, for language servers, which speak in absolute addresses. */
  readonly root: string;
  /** A private folder of the runtime's own. */
  readonly state: string;
  /** Inside the sandbox of the runtime's registry. */
  readonly commands: CommandRunner;
  readonly registry: Registry;
  /** Masks known secrets and changes nothing else. */
  redact(text: string): string;
}

export interface OpenAst {
  readonly index: AstIndex;
  close(): Promise<void>;
}

/** An engine that brings its tools and rules along. Made for one runtime. */
export interface AstPlugin {
  readonly tools: readonly AnyTool[];
  readonly rules: readonly RuleDefinition[];
  open(ports: AstPorts): MaybePromise<OpenAst>;
}
