/**
 * A rule checks a call before it runs (`before`), the repository right before a git verb touches it (`guard`), what is
 * about to be committed (`on-commit`), or a change after it happened (`after`).
 */
import type { ErrorCode, JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { AstIndex } from './ast.ts';
import type { Enforcement } from './classes.ts';
import type { CommandList } from './command-list.ts';
import type { CommandRunner } from './commands.ts';
import type { ChangeScope, ChangeSet, GitIntent, GitRepository } from './git.ts';
import type { Registry } from './registry.ts';
import type { CallProfile } from './tool.ts';
import type { FileChange, MaybePromise, Workspace } from './workspace.ts';

/** Rules on request: over the work tree, what is staged, or a range of commits. */
export interface ValidationRequest {
  /** Rule ids; undefined: all that are in force. */
  readonly rules?: readonly string[];
  /** Only rules of this level. */
  readonly enforcement?: Enforcement;
  /** Only findings in files that match one of these globs. */
  readonly globs?: readonly string[];
  readonly scope: ChangeScope;
  /** Start of a range, as the caller wrote it. */
  readonly since?: string;
  readonly message?: string;
  /** For `staged`: name of another index file in the git folder. */
  readonly index?: string;
  readonly signal: AbortSignal;
}

export interface FoundViolation extends Violation {
  readonly rule: string;
  readonly level: Enforcement;
}

export interface RuleVerdict {
  readonly id: string;
  readonly level: Enforcement;
  readonly status: 'passed' | 'failed' | 'not_applicable';
  readonly description: string;
}

export interface ValidationReport {
  readonly violations: readonly FoundViolation[];
  readonly rules: readonly RuleVerdict[];
  /** Files that were looked at. */
  readonly files: number;
  readonly scope: ChangeScope;
}

export interface Validation {
  run(request: ValidationRequest): Promise<ValidationReport>;
}

/** Optional parts of a runtime that rules may need. */
export type RuleEngine = 'ast';

export type RulePhase = 'before' | 'guard' | 'on-commit' | 'after';

export interface Violation {
  readonly message: string;
  readonly path?: string;
  readonly line?: number;
  /** What would pass instead, in words. */
  readonly next?: string;
  /** Further facts for the error's details. */
  readonly details?: JsonObject;
  /** A proposed fix; returned and announced, never applied by itself. */
  readonly fix?: JsonObject;
}

/** Arguments that tools declare in `arg_schema`, by the list of `RuleSubject` they appear in. */
export type ArgumentKind = 'paths' | 'urls' | 'commands' | 'environments';

/** What a rule sees. Arguments are final: aliases rewritten, hooks and approver edits applied. */
export interface RuleSubject {
  readonly tool: string;
  readonly args: Readonly<Record<string, JsonValue>>;
  /** Every declared path argument, arrays flattened. */
  readonly paths: readonly { readonly key: string; readonly value: string }[];
  /** Every declared URL argument, likewise. */
  readonly urls: readonly { readonly key: string; readonly value: string }[];
  /** Every declared command argument that is present. */
  readonly commands: readonly CheckedCommand[];
  /** Every declared environment argument that is present. */
  readonly environments: readonly { readonly key: string; readonly value: JsonValue }[];
  readonly profile: CallProfile;
  /** Filled in the after phase. */
  readonly changes: readonly FileChange[];
  /** What the call means to git; undefined for tools that do not touch it. */
  readonly git?: GitIntent | undefined;
}

export interface CheckedCommand {
  readonly key: string;
  /** A line, or a list of words. */
  readonly value: JsonValue;
  /** Parsed once: the tool starts the very list that rules see here. Throws when it cannot be parsed. */
  list(): CommandList;
}

export interface RuleContext {
  readonly registry: Registry;
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
  readonly ast: AstIndex | undefined;
  /** Looks only: what a rule starts never writes to the repository. */
  readonly git: GitRepository;
  /** For the commands the registry configures, inside the sandbox. */
  readonly commands: CommandRunner;
  /** What is being judged. Throws E_GIT outside the on-commit phase and for workspaces without a repository. */
  changeSet(): Promise<ChangeSet>;
  /** Findings by content: a file whose content was judged before by the same rule and settings is not read again. */
  readonly cache: FindingCache;
}

/** Keys name a rule, its settings and a content; values are what was found there. */
export interface FindingCache {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
}

export interface OpenFindingCache extends FindingCache {
  close(): void;
}

/** What the registry loader must know about a rule. */
export interface RuleFacts {
  readonly id: string;
  readonly defaultEnforcement: Enforcement;
  /** Blocking although no registry lists it, and never less. */
  readonly always?: boolean;
  /** Key of the registry's `commands` section the rule runs; a blocking rule without it fails closed. */
  readonly needsCommand?: string;
  /** Engines it cannot judge without. A registry that makes it blocking is refused where they are missing. */
  readonly needs?: readonly RuleEngine[];
  /** Without its engines it refuses what it should judge, call by call; a registry may list it all the same. */
  readonly failsClosed?: boolean;
}

export interface RuleDefinition extends RuleFacts {
  readonly category: string;
  readonly description: string;
  readonly phase: RulePhase;
  /** When the rule fires, in the words of the catalogue. */
  readonly trigger: string;
  /** Judges names, contents on both sides, branch and message and nothing else: equal ones give equal findings. */
  readonly byContent?: boolean;
  /** Of the `before` phase, and yet meaningful when rules are run on request. */
  readonly onRequest?: boolean;
  /** A call may pass over its findings by giving a reason, which is recorded. */
  readonly overridable?: boolean;
  /** What a blocking violation answers; E_VALIDATION_FAIL by default. */
  readonly errorCode?: ErrorCode;
  /** The tools whose calls it checks; every tool by default. A rule about other tools costs a call nothing. */
  readonly tools?: readonly string[];
  /** The kinds of arguments it checks: it is never asked about a tool that declares none of them. */
  readonly looksAt?: readonly ArgumentKind[];
  /** Cheap test on the call's declarations; a rule that does not apply costs nothing more. */
  appliesTo(subject: RuleSubject): boolean;
  check(subject: RuleSubject, context: RuleContext): MaybePromise<readonly Violation[]>;
}

export function defineRule(rule: RuleDefinition): RuleDefinition {
  return Object.freeze(rule);
}
